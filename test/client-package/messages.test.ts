import { makeBatonClient } from '../../shared/client/baton-client.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';

/* Tests a program that sends and does not wait, through the library and a service whose store stands still. */

let redis: OwnRedis;
let replica: ReplicaProcess;
beforeAll(async () => {
  redis = await startOwnRedis();
  replica = await startReplica({ redisUrl: redis.url, keyPrefix: randomPrefix() });
}, 120_000);
afterAll(async () => {
  redis.resume();
  await stopReplicas();
  await redis.stop();
});

async function pair() {
  const user = randomUser();
  const [laptop, phone] = [makeDevice({ user, name: 'Laptop' }), makeDevice({ user, name: 'Phone' })];
  for (const device of [laptop, phone]) await device.on(replica).call('getMe');
  /** The answer to each attempt, in this order. */
  const attempts: { content: string; status: number }[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const answer = await globalThis.fetch(url, init);
    if (typeof init.body === 'string') {
      const { content } = JSON.parse(init.body) as { content: string };
      attempts.push({ content, status: answer.status });
    }
    return answer;
  };
  const { messages } = makeBatonClient({ baseUrl: replica.url, headers: laptop.headers, fetch });
  const arrived = async () =>
    (await phone.on(replica).call('listMessages')).body.messages.map(({ content }) => content);
  return { messages, attempts, arrived, phone };
}

test('messages that are sent without awaiting while the store stands still arrive once each, in their order', async () => {
  const { messages, attempts, arrived, phone } = await pair();
  redis.pause();
  const all = ['1', '2', '3'].map((content) => messages.send({ device_id: phone.id }, content, { retries: 50 }));
  const isRefused = () => attempts.some(({ status }) => status === 503);
  while (!isRefused()) await new Promise((resolve) => setTimeout(resolve, 50));
  // It is unknown whether the first one has arrived, so the others have not left.
  expect(new Set(attempts.map(({ content }) => content))).toEqual(new Set(['1']));
  redis.resume();
  await Promise.all(all);
  expect(await arrived()).toEqual(['1', '2', '3']);
}, 120_000);

test('a program that is started again repeats what it kept under its key, and it arrives once', async () => {
  const { messages, arrived, phone } = await pair();
  const kept = { idempotencyKey: 'kept-by-the-program' };
  const first = await messages.send({ device_id: phone.id }, 'once', kept);
  const again = await messages.send({ device_id: phone.id }, 'once', kept);
  expect(again.message_id).toBe(first.message_id);
  expect(await arrived()).toEqual(['once']);
});
