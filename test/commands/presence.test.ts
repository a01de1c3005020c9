import type { Presence, PresenceEntry } from '../../shared/contract/modules/presence.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';
import { type Recorder, recordStream } from '../support/stream-recorder.ts';
import { expectProblem, request } from '../support/wire.ts';

const GRACE_MS = 3_000;

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_HUB_OFFLINE_GRACE_MS: String(GRACE_MS) });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const presenceOf = async (device: TestDevice, replica = site.one): Promise<Presence> =>
  (await device.on(replica).call('getPresence')).body;

const entryOf = ({ devices }: Presence, name: string): PresenceEntry | undefined =>
  devices.find((entry) => entry.name === name);

const onlineIs = (name: string, online: boolean) => (presence: Presence) => entryOf(presence, name)?.online === online;

const nextPresence = (stream: Recorder, match: (presence: Presence) => boolean) =>
  stream.next('presence', ({ data }) => match(data));

/** Returns every snapshot that the stream was given, that of `ready` first. */
const snapshotsIn = (stream: Recorder): Presence[] =>
  stream.events.flatMap((event) => {
    if (event.name === 'presence') return [event.data];
    return event.name === 'ready' ? [event.data.presence] : [];
  });

/** Resolves to the snapshot in which a device that was seen online no longer is. */
const nextOffline = (stream: Recorder, name: string) =>
  nextPresence(stream, (presence) => {
    const wasOnline = (one: Presence) => one.version < presence.version && onlineIs(name, true)(one);
    return onlineIs(name, false)(presence) && snapshotsIn(stream).some(wasOnline);
  });

/**
 * Waits until the replica has noticed that the last stream of `device` was closed. An answer shows that without the
 * grace.
 */
async function untilGone(device: TestDevice, sender: TestDevice): Promise<void> {
  const body = { to_device_id: device.id, content: 'are you there?' };
  while ((await sender.on(site.one).call('sendMessage', { body })).body.to[0]?.online) continue;
}

async function open(device: TestDevice, replica: ReplicaProcess): Promise<Recorder> {
  const stream = site.listen(device, replica);
  await stream.next('ready');
  return stream;
}

describe('a device that connects', () => {
  test('is seen online by the others, also from the other replica', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const watcher = await open(laptop, site.one);
    await open(phone, site.two);
    const { data, id } = await nextPresence(watcher, onlineIs('Phone', true));
    expect(id).toBeNull();
    const online = { type: 'linux', online: true, last_seen_at: expect.any(Number) };
    expect(data.devices).toEqual([
      { device_id: laptop.id, name: 'Laptop', ...online },
      { device_id: phone.id, name: 'Phone', ...online },
    ]);
    for (const replica of [site.one, site.two]) expect(await presenceOf(laptop, replica)).toEqual(data);
    const listed = (await laptop.on(site.two).call('listDevices')).body.devices;
    expect(listed.map((device) => device.online)).toEqual([true, true]);
  });

  test('is told in its first event who is there, itself included', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await open(laptop, site.one);
    const { data } = await site.listen(phone, site.two).next('ready');
    expect(data.presence.devices.map(({ name, online }) => [name, online])).toEqual([
      ['Laptop', true],
      ['Phone', true],
    ]);
  });

  test('is announced at every connect, so that a waiting sender sees it', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const watcher = await open(laptop, site.one);
    await open(phone, site.two);
    const first = await nextPresence(watcher, onlineIs('Phone', true));
    await open(phone, site.one);
    const second = await nextPresence(watcher, ({ version }) => version > first.data.version);
    expect(entryOf(second.data, 'Phone')?.online).toBe(true);
  });

  test('raises the version each time, and both replicas end with the same picture', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `Device ${i}`);
    const [one, two, ...others] = (await site.enrol(...names)) as [TestDevice, TestDevice, ...TestDevice[]];
    const watchers = [await open(one, site.one), await open(two, site.two)];
    await Promise.all(others.map((device, i) => open(device, i % 2 === 0 ? site.one : site.two)));
    const complete = ({ devices }: Presence) => devices.every(({ online }) => online);
    const final = await presenceOf(one);
    expect(complete(final)).toBe(true);
    for (const watcher of watchers) {
      const last = await nextPresence(watcher, ({ version }) => version >= final.version);
      expect(last.data).toEqual(final);
      const versions = snapshotsIn(watcher).map(({ version }) => version);
      expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    }
  });
});

describe('a device that goes', () => {
  // Proves G6.
  test('is shown offline after the grace, not before, with the time when it was last seen', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const watcher = await open(laptop, site.one);
    const stream = await open(phone, site.two);
    await nextPresence(watcher, onlineIs('Phone', true));
    const [closedAt, closedAtMs] = [performance.now(), Date.now()];
    await stream.stop();
    expect(entryOf(await presenceOf(laptop), 'Phone')?.online).toBe(true);
    const { data, at } = await nextOffline(watcher, 'Phone');
    expect(at - closedAt).toBeGreaterThanOrEqual(GRACE_MS - 5);
    expect(at - closedAt).toBeLessThan(GRACE_MS + 2_500);
    const seenAt = entryOf(data, 'Phone')?.last_seen_at ?? 0;
    expect(seenAt).toBeGreaterThanOrEqual(closedAtMs - 5);
    expect(seenAt).toBeLessThan(closedAtMs + GRACE_MS);
    expect(await presenceOf(laptop, site.two)).toEqual(data);
  });

  test.each([
    ['on the same replica', () => site.two],
    ['on the other replica', () => site.one],
  ])('and comes back within the grace %s is never shown offline', async (_, replica) => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const watcher = await open(laptop, site.one);
    const clock = await open(tablet, site.two);
    await (await open(phone, site.two)).stop();
    await open(phone, replica());
    // The tablet's grace begins after the phone's would have, so when it ends, the phone's is over.
    await clock.stop();
    await nextOffline(watcher, 'Tablet');
    const seen = snapshotsIn(watcher).map((presence) => entryOf(presence, 'Phone')?.online);
    expect(seen.slice(seen.indexOf(true))).not.toContain(false);
  });

  // Proves G7.
  test('and comes back within the grace, with nobody else there to be told, makes no new version', async () => {
    const [phone] = await site.enrol('Phone', 'Laptop');
    const first = site.listen(phone, site.one);
    const { data: before } = await first.next('ready');
    const routes = () => site.redis.hvals(`${site.prefix}:{${phone.user}}:routes`);
    const whileOpen = await routes();
    await first.stop();
    await until(routes, (now) => now[0] !== whileOpen[0], 'the end of the stream to be told');
    const { data: after } = await site.listen(phone, site.two).next('ready');

    expect(after.presence).toEqual(before.presence);
  });

  test('and comes back again and again leaves the row of one closed stream, and none while it is there', async () => {
    const [phone] = await site.enrol('Phone', 'Laptop');
    const rows = () => site.redis.hvals(`${site.prefix}:{${phone.user}}:routes`);
    const closedIn = (all: string[]) => all.filter((row) => !row.endsWith('\n0'));
    for (const replica of [site.one, site.two, site.one, site.two]) {
      const stream = await open(phone, replica);
      expect(closedIn(await rows())).toEqual([]);
      await stream.stop();
      const left = await until(rows, (all) => closedIn(all).length > 0, 'the end of the stream to be told');
      expect(left).toHaveLength(1);
    }
  });

  test('is not shown offline before its grace is over because another one comes', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const watcher = await open(laptop, site.one);
    await (await open(phone, site.two)).stop();
    await untilGone(phone, laptop);
    await open(tablet, site.two);
    const { data } = await nextPresence(watcher, onlineIs('Tablet', true));
    expect(entryOf(data, 'Phone')?.online).toBe(true);
    await nextOffline(watcher, 'Phone');
  });

  test('with one of its two streams is still there', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const watcher = await open(laptop, site.one);
    await open(phone, site.one);
    const [second, clock] = [await open(phone, site.two), await open(tablet, site.two)];
    await second.stop();
    await clock.stop();
    const { data } = await nextOffline(watcher, 'Tablet');
    expect(entryOf(data, 'Phone')?.online).toBe(true);
  });

  test('keeps its place in the list', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const watcher = await open(phone, site.one);
    await (await open(laptop, site.two)).stop();
    const { data } = await nextOffline(watcher, 'Laptop');
    expect(data.devices.map(({ name }) => name)).toEqual(['Laptop', 'Phone']);
  });
});

describe('a stream without a device', () => {
  const LIVE_ONLY = { device_id: null, name: 'Kiosk', type: null, online: true, last_seen_at: null };

  test('is an entry with a name and nothing else, while it is open', async () => {
    const [laptop] = await site.enrol('Laptop');
    const watcher = await open(laptop, site.one);
    const kiosk = site.listenAs('Kiosk', laptop.user, site.two);
    const { data: ready } = await kiosk.next('ready');
    expect(ready.device).toBeNull();
    expect(entryOf(ready.presence, 'Kiosk')).toEqual(LIVE_ONLY);
    const shown = await nextPresence(watcher, (presence) => entryOf(presence, 'Kiosk') !== undefined);
    expect(entryOf(shown.data, 'Kiosk')).toEqual(LIVE_ONLY);
    await kiosk.stop();
    const gone = await nextPresence(watcher, (presence) => entryOf(presence, 'Kiosk') === undefined);
    expect(gone.data.devices.map(({ name }) => name)).toEqual(['Laptop']);
    expect((await laptop.on(site.one).call('listDevices')).body.devices).toHaveLength(1);
  });

  test('is one entry with all others of its name, until the last is closed', async () => {
    const [laptop] = await site.enrol('Laptop');
    const watcher = await open(laptop, site.one);
    const kiosks = [site.listenAs('Kiosk', laptop.user, site.one), site.listenAs(' Kiosk ', laptop.user, site.two)];
    const other = site.listenAs('Clock', laptop.user, site.two);
    await Promise.all([...kiosks, other].map((stream) => stream.next('ready')));
    const before = await presenceOf(laptop);
    expect(before.devices.map(({ name }) => name).sort()).toEqual(['Clock', 'Kiosk', 'Laptop']);
    await kiosks[0]?.stop();
    await other.stop();
    const clockIsGone = (presence: Presence) => presence.version > before.version && !entryOf(presence, 'Clock');
    const { data } = await nextPresence(watcher, clockIsGone);
    expect(entryOf(data, 'Kiosk')).toEqual(LIVE_ONLY);
  });

  test('keeps its name from a device that comes later', async () => {
    const user = randomUser();
    const kiosk = site.listenAs('Kiosk', user, site.one);
    await kiosk.next('ready');
    const device = makeDevice({ user, name: 'Kiosk' });
    const { devices } = await presenceOf(device, site.two);
    const own = { device_id: device.id, name: 'Kiosk 2', type: 'linux', online: false, last_seen_at: null };
    expect(devices).toEqual([own, LIVE_ONLY]);
    expect((await device.on(site.one).call('listDevices')).body.devices).toMatchObject([{ name: 'Kiosk 2' }]);
  });
});

describe('a device id without a row', () => {
  const SECRET = 'a-secret-of-the-edge-with-enough-characters';
  let edge: ReplicaProcess;
  beforeAll(async () => {
    const env = { APP_IDENTITY: 'edge', APP_EDGE_SECRET: SECRET };
    edge = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix, env });
  });

  const revoked = (user: string) => ({
    'X-Edge-Secret': SECRET,
    'X-Auth-Subject': user,
    'X-Auth-Scope': 'full',
    'X-Auth-Meta': 'revoked-device',
  });

  test('has an open stream, and is not counted online by anybody', async () => {
    const [laptop] = await site.enrol('Laptop');
    const watcher = await open(laptop, site.one);
    const { version } = await presenceOf(laptop);
    const stream = recordStream({ baseUrl: edge.url, headers: revoked(laptop.user) });
    const { data } = await stream.next('ready');
    expect((await presenceOf(laptop)).version).toBe(version);
    expect(data).toMatchObject({ resumed: false, device: null, pending: { messages: 0, transfers: 0 } });
    await laptop.on(site.two).call('setClipboard', { body: { content: 'x', content_type: 'text/plain' } });
    await Promise.all([stream.next('clipboard'), watcher.next('clipboard')]);
    await stream.stop();
    for (const presence of [...snapshotsIn(watcher), ...snapshotsIn(stream), await presenceOf(laptop)]) {
      expect(presence.devices.map(({ device_id: id }) => id)).toEqual([laptop.id]);
    }
  });

  test.each(['/api/hub/ice', '/api/transfer', '/api/push/config', '/api/push/subscriptions'])(
    'is no device to %s',
    async (path) => {
      const [laptop] = await site.enrol('Laptop');
      expectProblem(await request(edge, { path, headers: revoked(laptop.user) }), 'device_required');
    },
  );

  test('does not make an account look alive', async () => {
    const user = randomUser();
    const stream = recordStream({ baseUrl: edge.url, headers: revoked(user) });
    expect((await stream.next('ready')).data.presence.devices).toEqual([]);
    await stream.stop();
  });
});

test('a device that left before the clock of the store was set back is offline after its grace, not when the clock has caught up', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const watcher = await open(laptop, site.one);
  const leaving = await open(phone, site.two);
  await nextPresence(watcher, onlineIs('Phone', true));
  await leaving.stop();
  await untilGone(phone, laptop);
  // The last field of a row is the time when its stream was closed.
  const routes = `${site.prefix}:{${laptop.user}}:routes`;
  for (const [stream, row] of Object.entries(await site.redis.hgetall(routes))) {
    const ahead = row.replace(/\d+$/, (closed) => String(closed === '0' ? 0 : Number(closed) + 100_000));
    await site.redis.hset(routes, stream, ahead);
  }

  const { data } = await nextOffline(watcher, 'Phone');
  expect(entryOf(data, 'Laptop')?.online).toBe(true);
});
