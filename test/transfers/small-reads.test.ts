import { Redis } from 'ioredis';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { makeParties, offer, type Parties } from './parties.ts';

let own: OwnRedis;
let redis: Redis;
let replica: ReplicaProcess;
let parties: Parties;
let id: string;

const longList = Array.from({ length: 1_000 }, (_, i) => ({
  name: `${i}-${'x'.repeat(240)}/${'y'.repeat(240)}`,
  size: i + 1,
}));

beforeAll(async () => {
  own = await startOwnRedis({ persistent: false });
  redis = new Redis(own.url);
  replica = await startReplica({ redisUrl: own.url, keyPrefix: randomPrefix() });
  parties = await makeParties(replica);
  for (let i = 0; i < 10; i++) id = (await offer(parties, replica, longList)).transfer_id;
  await parties.sender.on(replica).call('relayTransfer', { params: { transfer_id: id } });
});
afterAll(async () => {
  await stopReplicas();
  redis.disconnect();
  await own.stop();
});

/** Resolves to the bytes that the store has sent to all clients. */
const sent = async (): Promise<number> =>
  Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1] ?? Number.NaN);

/** The bytes that a replica's beats may take while the test waits. */
const BEATS = 60_000;

async function costOf(act: () => Promise<unknown>): Promise<number> {
  const before = await sent();
  await act();
  return (await sent()) - before;
}

const params = () => ({ transfer_id: id });

test.each<[string, () => Promise<unknown>]>([
  ['a list by state', () => parties.sender.on(replica).call('listTransfers', { query: { state: 'DONE' } })],
  ['a list', () => parties.receiver.on(replica).call('listTransfers', { query: { limit: 100 } })],
  [
    'a phase',
    () => parties.sender.on(replica).call('phaseTransfer', { params: params(), body: { phase: 'transferring' } }),
  ],
  ['a step', () => parties.receiver.on(replica).call('acceptTransfer', { params: params() })],
  [
    'a question of the relay for one file of a thousand',
    () => fetch(`${replica.url}/api/relay/${id}/999/0`, { method: 'HEAD', headers: parties.sender.headers }),
  ],
  [
    'a stream with ten offers of a thousand files waiting',
    async () => {
      const stream = parties.receiver.listen(replica);
      for (let i = 0; i < 9; i++) await stream.next('transfer:incoming');
      await stream.stop();
    },
  ],
])('%s makes the store send no lists of files', async (_, act) => {
  expect(await costOf(act)).toBeLessThan(BEATS);
});

test.each([0, 1, 16, 998, 999])('file %i of a thousand is found by its place', async (index) => {
  const answer = await fetch(`${replica.url}/api/relay/${id}/${index}/0`, {
    method: 'HEAD',
    headers: parties.sender.headers,
  });

  expect(answer.headers.get('upload-length')).toBe(`${index + 1}`);
});

test('there is no file behind the last one', async () => {
  const answer = await fetch(`${replica.url}/api/relay/${id}/1000/0`, {
    method: 'HEAD',
    headers: parties.sender.headers,
  });

  expect(answer.status).toBe(404);
});
