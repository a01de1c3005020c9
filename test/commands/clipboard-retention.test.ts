import type { TestDevice } from '../support/device.ts';
import { sharedRedisUrl } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';
import { keysHolding } from '../support/redis/stored.ts';
import type { Recorder } from '../support/stream-recorder.ts';

/* The clipboard forgets (contract, "Clipboard"), here after three seconds. The sweeper looks once a second. */

const TTL_MS = 3_000;
const AT_THE_LATEST_MS = TTL_MS + 5_000;

let site: Site;
const env = { APP_CLIPBOARD_TTL_SECONDS: String(TTL_MS / 1_000), APP_HUB_HEARTBEAT_MS: '250' };
beforeAll(async () => {
  site = await startSite(env);
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

async function put(device: TestDevice, content: string, replica: ReplicaProcess = site.one) {
  const body = { content, content_type: 'text/plain' };
  return (await device.on(replica).call('setClipboard', { body })).body;
}

async function listening(device: TestDevice, replica: ReplicaProcess): Promise<Recorder> {
  const stream = site.listen(device, replica);
  await stream.next('ready');
  return stream;
}

const clearings = (stream: Recorder): number => stream.events.filter(({ name }) => name === 'clipboard:cleared').length;

/** Returns what is left after a while: after a text of another account has come and gone. */
async function whileAnotherExpires(): Promise<void> {
  const [other] = await site.enrol('Other');
  const stream = await listening(other, site.one);
  await put(other, 'another account');
  await stream.next('clipboard:cleared');
}

// Proves G27.
test('a text is gone after its time: announced once to every device, and in no key any more', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const text = `forget-me-${laptop.user}`;
  const streams = [await listening(laptop, site.one), await listening(phone, site.two)];
  const writtenAt = performance.now();
  const entry = await put(laptop, text);
  expect((entry.expires_at ?? 0) - (entry.updated_at ?? 0)).toBe(TTL_MS);

  for (const stream of streams) {
    const { at, id, data } = await stream.next('clipboard:cleared');
    expect(at - writtenAt).toBeGreaterThanOrEqual(TTL_MS - 5);
    expect(at - writtenAt).toBeLessThan(AT_THE_LATEST_MS);
    expect({ id, data }).toEqual({ id: expect.stringMatching(/^\d+-\d+$/), data: {} });
  }
  const nothing = {
    content: '',
    content_type: null,
    source_device_id: null,
    source_device_name: null,
    updated_at: null,
    expires_at: null,
  };
  for (const replica of [site.one, site.two])
    expect((await phone.on(replica).call('getClipboard')).body).toEqual(nothing);
  expect((await site.listen(phone, site.one).next('ready')).data.clipboard).toBeNull();
  expect(await keysHolding(site.redis, site.prefix, text)).toEqual([]);
  await whileAnotherExpires();
  expect(streams.map(clearings)).toEqual([1, 1]);
});

test('a text that is set again before its time stays for the whole of the new time', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const stream = await listening(phone, site.two);
  await put(laptop, 'first', site.one);
  // Some of the time is over, because the stream has been quiet for one heartbeat.
  await stream.next('ping');
  const again = await put(laptop, 'second', site.two);
  const { id } = await stream.next('clipboard:cleared');
  expect(Number(id?.split('-')[0])).toBeGreaterThanOrEqual(again.expires_at as number);
  expect(stream.events.flatMap(({ name }) => (name.startsWith('clipboard') ? [name] : []))).toEqual([
    'clipboard',
    'clipboard',
    'clipboard:cleared',
  ]);
});

test('a text that was cleared by hand is not announced again when its time would have come', async () => {
  const [laptop] = await site.enrol('Laptop');
  const stream = await listening(laptop, site.two);
  await put(laptop, 'x');
  await laptop.on(site.one).call('clearClipboard');
  await stream.next('clipboard:cleared');
  await whileAnotherExpires();
  expect(clearings(stream)).toBe(1);
});

test('a text that goes while nobody listens is told to whoever comes back', async () => {
  const [laptop] = await site.enrol('Laptop');
  const before = await listening(laptop, site.one);
  await put(laptop, 'x');
  const { id } = await before.next('clipboard');
  await before.stop();
  await whileAnotherExpires();
  const stream = site.listen(laptop, site.two, id as string);
  expect((await stream.next('ready')).data).toMatchObject({ resumed: true, clipboard: null });
  await stream.next('clipboard:cleared');
});

test('a text goes although the replica that took it was killed', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const stream = await listening(phone, site.two);
  const doomed = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix, env });
  const text = `outlives-its-replica-${laptop.user}`;
  await put(laptop, text, doomed);
  await doomed.kill();
  await stream.next('clipboard:cleared');
  expect(await keysHolding(site.redis, site.prefix, text)).toEqual([]);
});
