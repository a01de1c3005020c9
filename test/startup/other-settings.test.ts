import { type RedisProcess, startRedisProcess, until } from '../support/redis/redis-processes.ts';
import { type Started, start, stopStarted } from './started.ts';

/* Tests replicas on one store with settings that must agree, and do not. */

let redis: RedisProcess;

beforeAll(async () => {
  redis = await startRedisProcess();
});
afterEach(() => stopStarted());
afterAll(() => redis.stop());

const SAYS = /^another replica on this store has settings that must agree: APP_CLIPBOARD_TTL_SECONDS is \d+ there/;

interface Told {
  warnings: string[];
  settings: string;
}

async function startWith(env: Record<string, string>): Promise<Started> {
  const APP_PUBLIC_URL = 'http://localhost:8080';
  const replica = await start('sync', { APP_REDIS_URL: `redis://127.0.0.1:${redis.port}`, APP_PUBLIC_URL, ...env });
  await until(async () => (await replica.asks('/readyz')).status === 200, Boolean, 'the replica to be ready');
  return replica;
}

const toldBy = async (replica: Started): Promise<Told> => (await replica.asks('/statusz')).body['replica'] as Told;

const labelOf = async ({ adminPort }: Started): Promise<string | undefined> => {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  return /^baton_build_info\{.*settings="(\w+)"/m.exec(text)?.[1];
};

test('both are told which and how, in log, status and metric, until one has ended', async () => {
  const one = await startWith({});
  const alike = await startWith({});
  const other = await startWith({ APP_CLIPBOARD_TTL_SECONDS: '60' });
  const warned = ({ warnings }: Told) => warnings.some((text) => SAYS.test(text));
  for (const replica of [one, alike, other]) await until(() => toldBy(replica), warned, 'the status to say so');
  for (const [replica, here] of [
    [one, 'is 60 there and 300 here'],
    [other, 'is 300 there and 60 here'],
  ] as const)
    expect((await replica.says(({ msg }) => SAYS.test(msg))).msg).toContain(here);
  const told = await Promise.all([one, alike, other].map(toldBy));
  const labels = await Promise.all([one, alike, other].map(labelOf));
  expect(labels).toEqual(told.map(({ settings }) => settings));
  expect([labels[0] === labels[1], labels[0] === labels[2]]).toEqual([true, false]);
  expect((await one.asks('/readyz')).status).toBe(200);
  // It was killed, so it leaves the leases once the others have found it dead.
  await other.stop();
  await until(
    () => toldBy(one),
    (now) => !warned(now),
    'the status to be without it',
  );
});
