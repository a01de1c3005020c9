import pino from 'pino';
import { type RedisAddress, redisAddress } from '../../shared/service-kit/config/redis.ts';
import { BulkStore } from '../../services/sync/redis/bulk/bulk-store.ts';
import { makeKeys } from '../../services/sync/redis/keys.ts';
import type { FileId } from '../../services/sync/relay/requests/relay-request.ts';
import { makeRelayStore, type RelayStore } from '../../services/sync/relay/store.ts';
import { makeMetrics } from '../../services/sync/telemetry/metrics.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo, randomPrefix } from '../support/redis/redis.ts';
import { until } from './support/asking.ts';

/* The promises of the relay's store about a chunk, one step at a time. */

let redis: OwnRedis;
let redisClient: ReturnType<typeof connectTo>;
let bulk: BulkStore;
let store: RelayStore;
const keys = makeKeys(randomPrefix());
let files = 0;

beforeAll(async () => {
  redis = await startOwnRedis({ persistent: false });
  redisClient = connectTo(redis.url);
  const address = (redisAddress(redis.url) as { value: RedisAddress }).value;
  bulk = new BulkStore({ address, logger: pino({ level: 'silent' }), metrics: makeMetrics({ version: 'test' }) });
  bulk.connect();
  store = makeRelayStore({ bulk, scripts: bulk.scripts, keys, idleMs: 60_000 });
  // This tries each of its connections, because an answer of one says nothing about the others.
  const probe = { transferId: 'probe', index: 0 };
  const isThere = () =>
    Promise.all([store.memoryPercent(probe), store.create(probe, 0, 0)]).then(
      () => true,
      () => false,
    );
  await until(isThere);
});
afterAll(async () => {
  bulk.stop();
  redisClient.disconnect();
  await redis.stop();
});

/** Returns a request for a file, by its token. */
const claimOf = (file: FileId, token: string) => ({ file, holder: { token, channel: 'somewhere' } });

/** Begins a file. One chunk has come, over a connection of its sender, whose token is `first`. */
async function begin() {
  const file = { transferId: `file-${files++}`, index: 0 };
  const claim = (token: string) => claimOf(file, token);
  await store.create(file, 0, 0);
  await store.open(claim('first'), 0, { side: 'w', from: 0 });
  const link = await store.link(file);
  const send = (token: string, start: number, end: number) => {
    const chunk = { generation: 0, start, end, parts: [Buffer.alloc(end - start, end)], urgent: true };
    return store.append(link, claim(token), chunk);
  };
  expect(await send('first', 0, 100)).toMatchObject({ taken: 0 });
  const end = async () => {
    const opened = await store.open(claim('finder'), 0, { side: '-', from: 0 });
    return opened.found === 'here' ? opened.extent.end : opened.found;
  };
  /** Returns what a reader gets from this position on, chunk by chunk. */
  const from = async (position: number) => {
    const got: [string, number][] = [];
    const sink = { entry: (id: string, bytes: number) => void got.push([id, bytes]), piece: () => false };
    await store.range(link, claim('reader'), {
      generation: 0,
      position,
      sink,
      taking: null,
      onTaken: () => undefined,
    });
    return got;
  };
  /** Returns the answer to a reader that has taken this much and reads on. */
  const takenUpTo = async (position: number) => {
    const sink = { entry: () => undefined, piece: () => false };
    const taking = { generation: 0, position, keepFrom: position };
    let answer: unknown = null;
    const onTaken = (taken: unknown) => void (answer = taken);
    await store.range(link, claim(''), { generation: 0, position, sink, taking, onTaken });
    return answer;
  };
  return { file, claim, link, send, end, from, takenUpTo };
}

test('a chunk behind one that found no memory is refused too, and nobody is told of bytes that are not there', async () => {
  const { link, send, end, from } = await begin();
  await redisClient.config('SET', 'maxmemory', '1');
  await expect(send('first', 100, 200)).rejects.toThrow('OOM');
  await redisClient.config('SET', 'maxmemory', '0');
  expect(await send('first', 200, 300)).toMatchObject({ taken: null });
  expect(await end()).toBe(100);
  // The upload goes on with the same steps.
  await send('first', 100, 200);
  await send('first', 200, 300);
  expect(await end()).toBe(300);
  expect(await from(0)).toEqual([
    ['100-0', 100],
    ['200-0', 100],
    ['300-0', 100],
  ]);
  bulk.giveBack(link);
});

test('no chunk of a sender that was replaced stays, also where nothing else is kept', async () => {
  const { file, claim, link, send, end, from } = await begin();
  await store.acknowledge(file, 0, 100);
  await store.open(claim('second'), 0, { side: 'w', from: 100 });
  expect(await send('first', 100, 200)).toMatchObject({ taken: null });
  expect(await end()).toBe(100);
  expect(await send('second', 100, 150)).toMatchObject({ taken: 100 });
  expect(await from(100)).toEqual([['150-0', 50]]);
  bulk.giveBack(link);
});

test('a chunk counts also where the store has forgotten the script behind it', async () => {
  const { link, send, end } = await begin();
  await redisClient.script('FLUSH');
  expect(await Promise.all([send('first', 100, 200), send('first', 200, 300)])).toMatchObject([
    { taken: 0 },
    { taken: 0 },
  ]);
  expect(await end()).toBe(300);
  bulk.giveBack(link);
});

test('a reader that waits learns whether a sender was there, also one that has left', async () => {
  const file = { transferId: `file-${files++}`, index: 0 };
  const claim = (token: string) => claimOf(file, token);
  await store.create(file, 0, 0);
  await store.open(claim('reader'), 0, { side: 'r', from: 0 });
  const wait = async () => await store.waitRead(claim('reader'), { generation: 0, position: 0, wanted: 100 });
  expect(await wait()).toMatchObject({ word: 'wait', hasBegun: false });
  await store.open(claim('sender'), 0, { side: 'w', from: 0 });
  await store.leave(claim('sender'), 'w');
  expect(await wait()).toMatchObject({ word: 'wait', hasBegun: true });
});

test('what was taken is told on the way, and again where the store has forgotten the script', async () => {
  const { link, send, from, takenUpTo } = await begin();
  await send('first', 100, 200);
  expect(await takenUpTo(100)).toMatchObject({ got: 100 });
  expect(await from(0)).toEqual([['200-0', 100]]);
  await redisClient.script('FLUSH');
  expect(await takenUpTo(150)).toBe(null);
  expect(await takenUpTo(200)).toMatchObject({ held: true, got: 200 });
  bulk.giveBack(link);
});

test('a full store still lets readers begin, take and wait, and gives back what they have', async () => {
  const { file, claim, link, send } = await begin();
  await send('first', 100, 200);
  await redisClient.config('SET', 'maxmemory', '1');
  const opened = await store.open(claim('reader'), 0, { side: 'r', from: 0 });
  const taken = await store.take(claim('reader'), { generation: 0, position: 100, keepFrom: 100 });
  const [reader, writer] = [
    await store.waitRead(claim('reader'), { generation: 0, position: 200, wanted: 300 }),
    await store.waitWrite(claim('first'), { generation: 0, wanted: 200 }),
  ];
  await store.leave(claim('reader'), 'r');
  const acked = await store.acknowledge(file, 0, 200);
  await redisClient.config('SET', 'maxmemory', '0');
  expect([opened.found, taken.held, reader.word, writer.taken, acked.held]).toEqual(['here', true, 'wait', 100, true]);
  const { length } = await redisClient.xrange(keys.relayBytes(file.transferId, 0, 0), '-', '+');
  expect(length).toBe(0);
  bulk.giveBack(link);
});

test('a connection that was lost under a reader is a store that is away', async () => {
  const { link, from } = await begin();
  link.close();
  await expect(from(0)).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('a reader that begins ahead of what is there lets go of what lies behind it, also when it reads nothing', async () => {
  const { file, claim, link, send } = await begin();
  for (let at = 100; at < 1_000; at += 100) await send('first', at, at + 100);
  await store.open(claim('reader'), 0, { side: 'r', from: 900, keepFrom: 700 });
  expect(await redisClient.xlen(keys.relayBytes(file.transferId, 0, 0))).toBe(3);
  const opened = await store.open(claim('finder'), 0, { side: '-', from: 0 });
  expect(opened).toMatchObject({ extent: { kept: 700, taken: 900, end: 1_000 } });
  bulk.giveBack(link);
});
