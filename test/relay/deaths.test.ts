import { join } from 'node:path';
import { makeRandom } from '../chaos/random.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { sha256 } from './support/curl.ts';
import { makeFolder, MIB, relayFiles, writeFile } from './support/relayed.ts';
import { keepReceiving, keepSending, type Side, sizeOf } from './support/resuming.ts';

/*
 * Whatever dies in the middle of a transfer, the file arrives whole. The seed decides what dies and when.
 * APP_TEST_RELAY_RUNS sets the number of runs, APP_TEST_RELAY_SEED another seed.
 */

const RUNS = Number(process.env.APP_TEST_RELAY_RUNS ?? 8);
const SEED = process.env.APP_TEST_RELAY_SEED ?? 'relay';
const VICTIMS = ['sending replica', 'receiving replica', 'sender', 'receiver', 'store', 'relay store'] as const;
const PATIENCE_MS = 90_000;

const folder = makeFolder();
const prefix = randomPrefix();
/** The data of accounts is durable. The relay's own store forgets everything when it dies. */
let store: OwnRedis;
let forgetful: OwnRedis;
const replicas: Record<'same' | 'own', ReplicaProcess[]> = { same: [], own: [] };

const start = (kind: 'same' | 'own') =>
  startReplica({
    redisUrl: store.url,
    keyPrefix: `${prefix}${kind}`,
    env: kind === 'own' ? { APP_RELAY_REDIS_URL: forgetful.url } : {},
  });

beforeAll(async () => {
  [store, forgetful] = await Promise.all([startOwnRedis(), startOwnRedis({ persistent: false })]);
  for (const kind of ['same', 'own'] as const) replicas[kind] = [await start(kind), await start(kind)];
});
afterAll(async () => {
  await stopReplicas();
  await Promise.all([store.stop(), forgetful.stop()]);
  folder.remove();
});

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until it is so, and throws if that does not happen. */
async function until(isSo: () => boolean): Promise<void> {
  for (const giveUp = Date.now() + PATIENCE_MS; !isSo(); await delay(5)) {
    if (Date.now() > giveUp) throw new Error('the file did not get so far');
  }
}

async function strike(victim: (typeof VICTIMS)[number], kind: 'same' | 'own', up: Side, down: Side): Promise<void> {
  const pair = replicas[kind];
  if (victim === 'sender') return up.current?.kill();
  if (victim === 'receiver') return down.current?.kill();
  if (victim === 'store' || victim === 'relay store') {
    const redis = victim === 'store' ? store : forgetful;
    await redis.kill();
    await delay(100);
    await redis.start();
    return;
  }
  const which = victim === 'sending replica' ? 0 : 1;
  await pair[which]?.kill();
  pair[which] = await start(kind);
}

/** The bytes that the receiver still lacked when something died. */
const strikes: { seed: string; left: number }[] = [];

const runs = Array.from({ length: RUNS }, (_, i) => ({ run: i, seed: `${SEED}-${i}` }));

// Proves G19.
test.each(runs)(
  'a file arrives whole whatever is killed on its way ($seed)',
  async ({ run, seed }) => {
    const random = makeRandom(seed);
    const first = VICTIMS[run % VICTIMS.length] as (typeof VICTIMS)[number];
    const kind = first === 'relay store' || random.next() < 0.3 ? 'own' : 'same';
    const others = VICTIMS.filter((victim) => victim !== 'relay store' || kind === 'own');
    const victims = [first, ...(random.next() < 0.5 ? [random.pick(others)] : [])];
    const size = Math.floor(random.between(12 * MIB, 48 * MIB));
    const pair = replicas[kind];
    const file = writeFile(folder.path, seed, size);
    const to = join(folder.path, `${seed}.out`);
    const relayed = await relayFiles(pair[0] as ReplicaProcess, { sizes: [size] });
    const side = (path: string, which: number) => ({
      ...{ transferId: relayed.id, path, size },
      replica: () => pair[which] as ReplicaProcess,
    });
    const up = keepSending({ ...side(file.path, 0), device: relayed.sender });
    // The download is slow enough that something can die before it is over.
    const down = keepReceiving({ ...side(to, 1), device: relayed.receiver, more: ['--limit-rate', '30M'] });
    for (const victim of victims) {
      const at = Math.floor(random.between(0, 0.9) * size);
      await until(() => sizeOf(to) >= at);
      strikes.push({ seed, left: size - sizeOf(to) });
      await strike(victim, kind, up, down);
    }
    const giveUp = setTimeout(() => down.stop(), PATIENCE_MS);
    await down.done;
    clearTimeout(giveUp);
    up.stop();
    await up.done;
    const story = { victims, kind, up: up.story, down: down.story, logs: pair.map(({ log }) => log().slice(-1_500)) };
    expect({ sha: await sha256(to), story }).toEqual({ sha: file.sha, story });
  },
  PATIENCE_MS * 2,
);

test('what died, died while bytes were moving', () => {
  // A file may arrive faster than the test looks, but not every time.
  const moving = strikes.filter(({ left }) => left > 0);
  expect({ isMost: moving.length > strikes.length / 2, strikes }).toEqual({ isMost: true, strikes });
});
