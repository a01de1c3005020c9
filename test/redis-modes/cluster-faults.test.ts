import { randomPrefix } from '../support/redis/redis.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis/redis-cluster.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { randomUsers, startTraffic, type Traffic } from './traffic.ts';

let cluster: RedisCluster;
let one: ReplicaProcess;
let two: ReplicaProcess;
let traffic: Traffic;
const prefix = randomPrefix();

/** Returns the channel of a replica. Each `ready` names the replica's id. */
const channelOf = ({ pairs }: Traffic): string => {
  const ready = pairs[0]?.onPhone.events.find(({ name }) => name === 'ready');
  if (ready?.name !== 'ready') throw new Error('no ready yet');
  return `${prefix}:bus:{${ready.data.server_id}}`;
};
const accountKey = ({ user }: { user: string }): string => `${prefix}:{${user}}:log`;

/** Returns users so that every primary has some of them. */
async function spreadUsers(): Promise<string[]> {
  for (;;) {
    const users = randomUsers();
    const primaries = await Promise.all(users.map((user) => cluster.primaryOf(accountKey({ user }))));
    if (new Set(primaries).size === 3) return users;
  }
}

beforeEach(async () => {
  cluster = await startRedisCluster();
  const start = () => startReplica({ redisUrl: cluster.url, keyPrefix: prefix, env: { APP_REDIS_MODE: 'cluster' } });
  [one, two] = await Promise.all([start(), start()]);
  traffic = await startTraffic(one, two, await spreadUsers());
  await traffic.flowing();
});
afterEach(async () => {
  await traffic.close();
  await stopReplicas();
  await cluster.stop();
});

// Proves G1.
test('slots that move while messages flow cost nothing: an account’s, and that of a replica’s channel', async () => {
  const [pair] = traffic.pairs;
  if (!pair) throw new Error('no pair');
  await cluster.moveSlot(await cluster.slotOf(accountKey(pair)));
  await traffic.flowing();
  await cluster.moveSlot(await cluster.slotOf(channelOf(traffic)));
  await traffic.flowing();
  await traffic.finish();

  expect(traffic.violations()).toEqual([]);
  expect(traffic.resets()).toEqual([]);
});

test('when the primary of a replica’s channel is killed, everything accepted arrives, and within 15 s of its successor', async () => {
  const channel = channelOf(traffic);
  const killedPort = (await cluster.primaryOf(channel)).port;
  const elsewhere = new Set<string>();
  for (const pair of traffic.pairs) {
    if ((await cluster.primaryOf(accountKey(pair))).port !== killedPort) elsewhere.add(pair.user);
  }
  const acceptedBefore = traffic.accepted;
  await cluster.killPrimaryOf(channel);
  const acceptedMeanwhile = traffic.accepted - acceptedBefore;
  const promotedAt = performance.now();
  await traffic.flowing();
  const flowingAfterMs = performance.now() - promotedAt;
  await traffic.finish();

  expect(traffic.violations()).toEqual([]);
  expect(flowingAfterMs).toBeLessThan(15_000);
  expect(acceptedMeanwhile).toBeGreaterThan(0);
  // Only accounts of the killed primary were refused, however long it took.
  const refusedUsers = traffic.pairs.filter(({ refused }) => refused.length > 0).map(({ user }) => user);
  expect(refusedUsers.filter((user) => elsewhere.has(user))).toEqual([]);
  expect(traffic.refused.length).toBeGreaterThan(0);
  // No device was told to give up a position that the successor has.
  const held = traffic.givenUp().map(async ({ user, position }) => {
    const key = accountKey({ user });
    return (await cluster.primaryOf(key)).cli('xrange', key, position, position);
  });
  expect((await Promise.all(held)).filter((entry) => entry !== '')).toEqual([]);
});

test('a failover in good order, and then a silent primary, leave no stream without events', async () => {
  const channel = channelOf(traffic);
  await cluster.failover(channel);
  await traffic.flowing();
  const paused = await cluster.primaryOf(channel);
  paused.pause();
  await traffic.flowing(() => true);
  paused.resume();
  await traffic.flowing();
  await traffic.finish();

  expect(traffic.violations()).toEqual([]);
});

// Proves G22.
test('a shard without any primary silences only its own accounts, who are told so, and told again when it is back', async () => {
  const channel = channelOf(traffic);
  const slot = await cluster.slotOf(channel);
  const [lost, spare] = await cluster.shardOf(slot);
  const isLost = async (key: string) => (await cluster.primaryOf(key)) === lost;
  const orphaned = new Set<string>();
  for (const pair of traffic.pairs) if (await isLost(accountKey(pair))) orphaned.add(pair.user);
  const isOrphan = ({ user }: { user: string }) => orphaned.has(user);
  await spare.kill();
  await lost.kill();
  // The replica that listened there has another channel by now.
  await traffic.flowing((pair) => !isOrphan(pair));
  await Promise.all(traffic.pairs.filter(isOrphan).map(({ onPhone }) => onPhone.next('degraded')));
  await lost.start();
  await Promise.all(traffic.pairs.filter(isOrphan).map(({ onPhone }) => onPhone.next('restored')));
  await traffic.flowing();
  await traffic.finish();

  expect(orphaned.size).toBeGreaterThan(0);
  const degraded = traffic.pairs.filter(({ onPhone }) => onPhone.events.some(({ name }) => name === 'degraded'));
  expect(degraded.filter((pair) => !isOrphan(pair))).toEqual([]);
  expect(traffic.closings()).toEqual([]);
}, 120_000);

test('primaries that come back at once without what they held find every stream again', async () => {
  // The subscriber's connections to nodes that are not its own go for good, and with them its knowledge of their end.
  for (const node of cluster.nodes) await node.cli('client', 'kill', 'type', 'normal', 'skipme', 'no').catch(() => '');
  await traffic.flowing();
  for (let round = 0; round < 2; round++) {
    const [pair] = traffic.pairs.slice(round);
    if (!pair) throw new Error('no pair');
    const primary = await cluster.primaryOf(accountKey(pair));
    await primary.kill();
    await primary.start();
    await traffic.flowing();
  }
  await traffic.finish();

  expect(traffic.closings()).toEqual([]);
}, 120_000);

test('a replica that is told to stop while no node of the cluster answers ends all the same', async () => {
  for (const node of cluster.nodes) node.pause();
  await Promise.all(traffic.pairs.map(({ onPhone }) => onPhone.next('degraded')));
  const code = await two.stop();
  for (const node of cluster.nodes) node.resume();

  expect(code).toBe(0);
});
