import { connect } from 'node:net';
import type { Presence } from '../../shared/contract/modules/presence.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { closeRawStreams, openRawStream, type RawStream } from '../support/raw-stream.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas, untilBeat } from '../support/replicas.ts';

/* How a replica ends streams of its own accord: each at its own moment, and each told when to come back. */

const store = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
afterEach(async () => {
  closeRawStreams();
  await stopReplicas();
});

interface Farewell {
  reason: string;
  retryMs: number;
  /** The `retry:` line, for a client that has no code of Baton's. */
  retryLine: number;
  atMs: number;
}

/** Resolves when the stream was told to come back and has ended. */
async function farewellOf(stream: RawStream): Promise<Farewell> {
  await stream.until(/event: reconnect\n[^]*\n\n/);
  const atMs = performance.now();
  const text = await stream.ended();
  const { reason, retry_ms: retryMs } = JSON.parse(/event: reconnect\ndata: (.*)\n/.exec(text)?.[1] ?? '{}');
  return { reason, retryMs, retryLine: Number(/^retry: (\d+)$/m.exec(text)?.[1]), atMs };
}

test('a stream is ended when it is old, not before 80 % of its longest life, and goes on where it was', async () => {
  const replica = await startReplica({ ...store, env: { APP_HUB_ROTATE_SECONDS: '2' } });
  const device = makeDevice({ user: randomUser() });
  const startedAt = performance.now();
  const onDevice = device.listen(replica);
  await onDevice.next('ready');
  const { data, at } = await onDevice.next('reconnect');
  const { data: again } = await onDevice.next('ready');

  expect(data).toEqual({ reason: 'rotate', retry_ms: expect.any(Number) });
  expect(at - startedAt).toBeGreaterThanOrEqual(1_600);
  expect(again.resumed).toBe(true);
  await onDevice.stop();
});

// Proves G8.
test('a client that vanished without a word is gone when the life of its stream is over', async () => {
  const replica = await startReplica({ ...store, env: { APP_HUB_ROTATE_SECONDS: '2' } });
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  const { hostname, port } = new URL(replica.url);
  const vanished = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).pause();
  vanished.on('error', () => undefined);
  const headers = Object.entries(phone.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  vanished.write(`GET /api/hub/events HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}\r\n`);
  const isPhoneOnline = async () => {
    const { devices } = (await laptop.on(replica).call('getPresence')).body;
    return devices.some(({ name, online }) => name === 'Phone' && online);
  };

  try {
    expect(await until(isPhoneOnline, (online) => online, 'the phone to be online')).toBe(true);
    expect(await until(isPhoneOnline, (online) => !online, 'the phone to be offline')).toBe(false);
  } finally {
    vanished.destroy();
  }
});

/** Returns what a raw stream showed: messages, without repeated ones, and its position. */
function shownBy(text: string): { contents: string[]; position: string } {
  const messages = [...text.matchAll(/^event: message\ndata: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  const contents = messages.filter(({ redelivered }) => !redelivered).map(({ content }) => content as string);
  return { contents, position: [...text.matchAll(/^id: ?(\S+)$/gm)].at(-1)?.[1] ?? '' };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isPhoneOnline = ({ data: { devices } }: { data: Presence }): boolean =>
  devices.some(({ name, online }) => name === 'Phone' && online);

/** Makes accounts with a phone on the replica that will stop, as a bare stream, and a laptop on the other one. */
async function startAccounts(leaving: ReplicaProcess, staying: ReplicaProcess, count: number) {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const user = randomUser();
      const [laptop, phone] = [makeDevice({ user, name: 'Laptop' }), makeDevice({ user, name: 'Phone' })];
      const onLaptop = laptop.listen(staying);
      await onLaptop.next('ready');
      const onPhone = await openRawStream(leaving, phone.headers);
      await onPhone.until(/event: ready\n/);
      await onLaptop.next('presence', isPhoneOnline);
      return { laptop, phone, onLaptop, onPhone, sent: [] as string[], atStart: onLaptop.events.length };
    }),
  );
}

type Account = Awaited<ReturnType<typeof startAccounts>>[number];

/** The load is small enough that the mailboxes, which nobody empties, hold it. */
const [SENDERS, PACE_MS] = [6, 50];

/** Sends to one account after the other until it is told to end, and then once more to each account. */
function startLoad(accounts: Account[], by: ReplicaProcess) {
  let isOver = false;
  const send = async ({ laptop, sent }: Account) => {
    const content = `message ${sent.length}`;
    await laptop.on(by).call('sendMessage', { body: { to: 'Phone', content } });
    sent.push(content);
  };
  const senders = Array.from({ length: SENDERS }, async (_, sender) => {
    for (let i = sender; !isOver; i += SENDERS) {
      await send(accounts[i % accounts.length] as Account);
      await pause(PACE_MS);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(senders);
    await Promise.all(accounts.map(send));
  };
}

/** Waits for the end of the phone's stream, and comes back to the other replica at the time that it was told. */
async function followTo(staying: ReplicaProcess, { phone, onPhone }: Account) {
  const farewell = await farewellOf(onPhone);
  const before = shownBy(await onPhone.ended());
  await pause(farewell.retryMs);
  const again = phone.listen(staying, before.position);
  const { data: ready } = await again.next('ready');
  return { farewell, before, again, resumed: ready.resumed };
}

// Proves G25.
test('a replica that stops under load ends its streams evenly over its window, each with a time of its own to come back, and nothing is lost', async () => {
  const windowMs = 4_000;
  // The grace is three seconds longer than the default: sixty streams come back at once, from a process that a busy
  // machine may hold up.
  const grace = { APP_HUB_OFFLINE_GRACE_MS: '8000' };
  const [leaving, staying] = await Promise.all([
    startReplica({ ...store, env: { ...grace, APP_DRAIN_SECONDS: String(windowMs / 1_000) } }),
    startReplica({ ...store, env: grace }),
  ]);
  const accounts = await startAccounts(leaving, staying, 60);
  const endLoad = startLoad(accounts, staying);
  const followed = Promise.all(accounts.map((account) => followTo(staying, account)));
  const stopped = leaving.stop();
  const followers = await followed;
  const exitCode = await stopped;
  await endLoad();
  const contents = await Promise.all(
    followers.map(async ({ before, again }, i) => {
      await again.next('message', ({ data }) => data.content === accounts[i]?.sent.at(-1) && !data.redelivered);
      const fresh = again.events.filter(({ name, data }) => name === 'message' && !data.redelivered);
      return [...before.contents, ...fresh.map(({ data }) => (data as { content: string }).content)];
    }),
  );
  // The grace of the last ended stream is over by then.
  const redis = connectTo(store.redisUrl);
  for (let beats = 0; beats < 6; beats++) await untilBeat(staying, redis, store.keyPrefix);
  redis.disconnect();

  expect(exitCode).toBe(0);
  expect(contents).toEqual(accounts.map(({ sent }) => sent));
  expect(new Set(followers.map(({ resumed }) => resumed))).toEqual(new Set([true]));
  const presences = accounts.flatMap(({ onLaptop, atStart }) => onLaptop.events.slice(atStart));
  expect(presences.filter((event) => event.name === 'presence' && !isPhoneOnline(event))).toEqual([]);

  const told = followers.map(({ farewell }) => farewell);
  expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(['draining']));
  const times = told.map(({ atMs }) => atMs).sort((a, b) => a - b);
  const spreadMs = (times.at(-1) as number) - (times[0] as number);
  expect(spreadMs).toBeGreaterThan(0.75 * windowMs);
  expect(spreadMs).toBeLessThan(1.5 * windowMs);
  // An even spread has a quarter of the streams in each quarter. On a busy machine two quarters may come at once.
  const inAQuarter = times.map((from) => times.filter((at) => at >= from && at < from + windowMs / 4).length);
  expect(Math.max(...inAQuarter)).toBeLessThan(0.75 * told.length);
  for (const { retryMs, retryLine } of told) {
    expect(retryLine).toBe(retryMs);
    expect(retryMs).toBeGreaterThanOrEqual(500);
    expect(retryMs).toBeLessThanOrEqual(3_000);
  }
  expect(new Set(told.map(({ retryMs }) => retryMs)).size).toBeGreaterThan(40);
  await Promise.all([
    ...followers.map(({ again }) => again.stop()),
    ...accounts.map(({ onLaptop }) => onLaptop.stop()),
  ]);
}, 240_000);
