import type { Redis } from 'ioredis';
import { makeKeySetStore } from '../../../services/sync/identity/key-sets/key-set-store.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import { makeScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import { connectTo, keysUnder, randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';

const SET = { keys: [{ kty: 'OKP', kid: 'genuine' }] };
const FORGED = JSON.stringify({ set: { keys: [{ kty: 'OKP', kid: 'forged' }] }, atMs: Date.now() });

let redis: Redis;
beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
afterAll(() => redis.disconnect());

/** Makes a store with a kept set. `sealed` is the field of the store that holds the set and its seal. */
async function kept() {
  const prefix = randomPrefix();
  const db = {
    redis,
    scripts: makeScriptLoader({ connection: redis, announcing: null }),
    keys: makeKeys(prefix),
  };
  const store = makeKeySetStore({ db, url: 'http://127.0.0.1:1/keys', secret: 'known to replicas' });
  await store.keep({ set: SET, atMs: Date.now() });
  const [key] = await keysUnder(redis, prefix);
  const write = (sealed: string) => redis.hset(key as string, 'sealed', sealed);
  return { store, write, sealed: (await redis.hget(key as string, 'sealed')) as string };
}

test('a set that a replica has kept is read', async () => {
  const { store } = await kept();
  expect((await store.read())?.set).toEqual(SET);
});

test.each([
  ['no seal', () => FORGED],
  ['an empty seal', () => `.${FORGED}`],
  ['a short seal', () => `x.${FORGED}`],
  ['the seal of another set', (sealed: string) => `${sealed.split('.')[0]}.${FORGED}`],
  ['a seal, and no set', (sealed: string) => `${sealed.split('.')[0]}.`],
])('a set with %s is not believed', async (_, forge) => {
  const { store, write, sealed } = await kept();
  await write(forge(sealed));
  expect(await store.read()).toBeNull();
});
