import type { Redis } from 'ioredis';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { bindScript } from '../../../services/server/redis/scripts/bound-script.ts';
import type { Raw } from '../../../services/server/redis/scripts/script-values.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import { signalSend } from '../../../services/sync/signals/scripts.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis/own-redis.ts';
import { connectTo } from '../../support/redis/redis.ts';

/* A signal stands for all that finds what it did by the log. */

let redis: OwnRedis;
let client: Redis;
const keys = makeKeys('baton');
const bound = bindScript(signalSend, true, [{ RATE_LIMIT: 0 }]);
const onAccount = keys.inAccount('u', {
  rate: 'baton:{u}:rate',
  accountRate: 'baton:{u}:rates',
  transfer: 'baton:{u}:t',
});
const given = { target: '=phone', transferId: '', kind: 'offer', payload: '"x"', lateMs: 0, sender: 'laptop' };

beforeAll(async () => {
  redis = await startOwnRedis();
  client = connectTo(redis.url);
});
beforeEach(async () => {
  await client.flushall();
  await client.hset(onAccount.devices, 'laptop', 'Laptop\n', 'phone', 'Phone\n');
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});

/** A call, and how to make it again some ms later: the same words but one. */
function call(): (resentAfterMs?: number) => Promise<Raw[]> {
  const words = bound.words(onAccount, given);
  return (resentAfterMs) => {
    const sent = words.map((word, i) => (i === bound.resentAt && resentAfterMs !== undefined ? resentAfterMs : word));
    return client.eval(bound.text, bound.keyCount, ...sent) as Promise<Raw[]>;
  };
}

const logged = () => client.xlen(onAccount.log);

async function callOthers(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await call()();
}

test('a call that was carried out is not carried out again, however much came after it', async () => {
  const send = call();
  expect((await send()).slice(0, 2)).toEqual(['OK', 'phone']);
  await callOthers(LIMITS.logEvents - 1);
  expect((await send(500)).slice(0, 2)).toEqual(['OK', 'phone']);
  expect(await logged()).toBe(LIMITS.logEvents);
});

test('one that was not is carried out: by an empty log, by a whole one, by one that goes back far enough', async () => {
  expect((await call()(500))[0]).toBe('OK');
  expect((await call()(500))[0]).toBe('OK');
  expect(await logged()).toBe(2);
  await client.del(onAccount.log);
  const longAgo = Date.now() - 60_000;
  await client.xadd(
    onAccount.log,
    `${longAgo}-1`,
    'p',
    `${longAgo - 1}-1`,
    'e',
    'signal',
    't',
    'phone',
    'd',
    '{}',
    's',
    '2',
  );
  expect((await call()(500))[0]).toBe('OK');
  expect(await logged()).toBe(2);
});

test('it is refused where the log has lost what came since it was first sent: it may have been among that', async () => {
  const send = call();
  await send();
  await callOthers(2 * LIMITS.logEvents);
  const before = await logged();
  expect((await send(60_000))[0]).toBe('store_unavailable');
  expect(await logged()).toBe(before);
});
