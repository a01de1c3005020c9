import { randomPrefix } from '../support/redis.ts';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { startTraffic, type Traffic } from './traffic.ts';

let cluster: RedisCluster;
let one: ReplicaProcess;
let two: ReplicaProcess;
let traffic: Traffic;
const prefix = randomPrefix();

/** The channel of a replica, whose id each `ready` names. */
const channelOf = ({ pairs }: Traffic): string => {
  const ready = pairs[0]?.onPhone.events.find(({ name }) => name === 'ready');
  if (ready?.name !== 'ready') throw new Error('no ready yet');
  return `${prefix}:bus:{${ready.data.server_id}}`;
};
const accountKey = ({ user }: { user: string }): string => `${prefix}:{${user}}:log`;

beforeEach(async () => {
  cluster = await startRedisCluster();
  const start = () => startReplica({ redisUrl: cluster.url, keyPrefix: prefix, env: { APP_REDIS_MODE: 'cluster' } });
  [one, two] = await Promise.all([start(), start()]);
  traffic = await startTraffic(one, two);
  await traffic.flowing();
}, 60_000);
afterEach(async () => {
  await traffic.close();
  await stopReplicas();
  await cluster.stop();
});

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
}, 60_000);

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
}, 60_000);

test('a failover in good order, and then a silent primary, leave no stream deaf', async () => {
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
}, 90_000);
