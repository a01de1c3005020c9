import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';

const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
let one: ReplicaProcess;
let two: ReplicaProcess;

beforeAll(async () => {
  [one, two] = await Promise.all([startReplica(options), startReplica(options)]);
});
afterAll(stopReplicas);

// Proves G1.
test('an append raced against an attach is always seen, thousands of times', async () => {
  const rounds = 100;
  const racers = 20;
  const race = async () => {
    const user = randomUser();
    const [laptop, phone] = ['Laptop', 'Phone'].map((name) => makeDevice({ user, name })) as [TestDevice, TestDevice];
    for (const device of [laptop, phone]) await device.on(one).call('listDevices');
    let position: string | null = null;
    for (let round = 0; round < rounds; round++) {
      const content = `round ${round}`;
      const sent = laptop.on(round % 2 ? one : two).call('sendMessage', { body: { to: 'Phone', content } });
      const stream = phone.listen(round % 3 ? two : one, position ?? undefined);
      const { data } = await stream.next('message', (event) => event.data.content === content);
      await sent;
      await phone.on(one).call('ackMessages', { body: { message_ids: [data.message_id] } });
      await stream.stop();
      position = stream.stream.lastEventId;
    }
  };

  await expect(Promise.all(Array.from({ length: racers }, race))).resolves.toHaveLength(racers);
}, 240_000);
