import { join } from 'node:path';
import { randomPrefix } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type SentinelSite, startRedisSentinel } from '../support/redis/redis-sentinel.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { sha256 } from '../relay/support/curl.ts';
import { makeFolder, MIB, relayFiles, writeFile } from '../relay/support/relayed.ts';
import { keepReceiving, keepSending, sizeOf } from '../relay/support/resuming.ts';

/**
 * The size is far more than the socket buffers between the two ends hold (about 17 MiB), so that the sender is never
 * done early.
 */
const SIZE = 80 * MIB;
/** The bytes that the receiver has when the next primary is cut off, and when the primary dies. */
const PARTED = 6 * MIB;
const DIES = 40 * MIB;
/** Nobody listens there. */
const NOWHERE = ['127.0.0.1', 1] as const;

let site: SentinelSite;
let replicas: ReplicaProcess[];
const folder = makeFolder();

beforeAll(async () => {
  site = await startRedisSentinel({ replicas: 1 });
  const keyPrefix = randomPrefix();
  const start = () => startReplica({ redisUrl: site.url, keyPrefix });
  replicas = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await stopReplicas();
  await site.stop();
  folder.remove();
});

// Proves G19.
test('a file arrives whole when a failover loses megabytes that the receiver had already taken', async () => {
  const [one, two] = replicas as [ReplicaProcess, ReplicaProcess];
  const file = writeFile(folder.path, 'file', SIZE);
  const to = join(folder.path, 'file.out');
  const relayed = await relayFiles(one, { sizes: [SIZE] });
  const old = await site.primary();
  const next = site.servers.find((server) => server !== old) as (typeof site.servers)[number];
  const side = { transferId: relayed.id, size: SIZE };
  const up = keepSending({ ...side, device: relayed.sender, replica: () => one, path: file.path });
  const more = ['--limit-rate', '8M'];
  const down = keepReceiving({ ...side, device: relayed.receiver, replica: () => two, path: to, more });
  const received = (bytes: number) =>
    until(
      async () => sizeOf(to),
      (size) => size >= bytes,
      `${bytes} bytes`,
    );

  await received(PARTED);
  await next.cli('replicaof', ...NOWHERE);
  // It is paused because the sentinels would correct that after a while.
  next.pause();
  await received(DIES);
  await old.kill();
  next.resume();
  await site.promotedInsteadOf(old);
  const giveUp = setTimeout(() => down.stop(), 60_000);
  await down.done;
  clearTimeout(giveUp);
  up.stop();
  await up.done;

  const story = { up: up.story, down: down.story };
  expect({ sha: await sha256(to), story }).toEqual({ sha: file.sha, story });
  // Proof that a tail was lost: the sender had to start again at an earlier offset than the receiver's. If the receiver
  // noticed first, the sender started at the receiver's offset in a new generation.
  const begunAnew = up.story.slice(1).some((line) => {
    const [, generation, offset] = /^up \/(\d) from (\d+)/.exec(line) ?? [];
    return Number(generation) > 0 || Number(offset) < DIES;
  });
  expect({ begunAnew, story }).toEqual({ begunAnew: true, story });
}, 120_000);
