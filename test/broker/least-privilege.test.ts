import { readFileSync } from 'node:fs';
import { decodeProtectedHeader } from 'jose';
import { Redis } from 'ioredis';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { request } from '../support/wire.ts';
import { eventually, startBroker, stopBrokers } from './support/brokers.ts';
import { makeBrowser } from './support/browser.ts';
import { serviceOf } from './support/service.ts';

const ACL = new URL('../../deploy/redis/users.acl', import.meta.url);
const PASSWORD = 'only-for-this-test';

let redis: OwnRedis;
let admin: Redis;

const urlOf = (user: string): string => redis.url.replace('redis://', `redis://${user}:${PASSWORD}@`);

beforeAll(async () => {
  redis = await startOwnRedis();
  admin = new Redis(redis.url);
  const rules = [...readFileSync(ACL, 'utf8').matchAll(/^user (\S+) (.*)$/gm)];
  for (const [, user = '', text = ''] of rules) {
    await admin.acl('SETUSER', user, ...text.replace(/#0{64}/, `>${PASSWORD}`).split(' '));
  }
});
afterAll(async () => {
  await stopBrokers();
  await admin.quit();
  await redis.stop();
});

test('the shipped Redis user of the broker may do everything that the broker does, over a change of its keys', async () => {
  const broker = await startBroker({
    redisUrl: urlOf('broker'),
    keyPrefix: 'broker',
    env: { BROKER_DEV_LOGIN: '1', BROKER_KEY_SECONDS: '1', BROKER_KEY_OVERLAP_SECONDS: '2' },
  });
  const service = serviceOf(broker);
  const subject = 'anna';
  const minted = await service.mint({ subject }, 'key-1');
  expect((await service.mint({ subject }, 'key-1')).session_id).toBe(minted.session_id);
  const rotated = await service.rotate(minted.cookie.value);
  await service.verify(rotated.cookie.value);
  expect((await service.list(subject)).map(({ session_id }) => session_id)).toEqual([minted.session_id]);
  const browser = makeBrowser();
  await browser.submit(`${broker.url}/login/dev`, { user: 'bob' });
  const headers = { Cookie: `baton=${browser.jar.get('baton')}` };
  expect((await request(broker, { path: '/forward-auth', headers })).status).toBe(200);
  const first = decodeProtectedHeader(minted.access_token).kid;
  await eventually('the first key is removed', async () => {
    const { keys } = (await request(broker, { path: '/.well-known/jwks.json' })).body as { keys: { kid: string }[] };
    return keys.some(({ kid }) => kid === first) ? null : true;
  });
  await service.tryRevoke({ subject, session_id: minted.session_id, reason: 'revoked' });
  expect((await service.tryVerify(rotated.cookie.value)).status).toBe(401);

  expect(broker.log()).not.toContain('NOPERM');
  expect(await admin.acl('LOG')).toEqual([]);
});

test.each([
  ['broker', 'baton:{anna}:mail'],
  ['broker', 'other:key'],
  ['baton', 'broker:{sys}:keys'],
])('the user %s does not read %s', async (user, key) => {
  const confined = new Redis(urlOf(user));
  await expect(confined.hgetall(key)).rejects.toThrow(/NOPERM/);
  await confined.quit();
});

test.each([
  ['broker', ['CONFIG', 'GET', 'masterauth']],
  ['broker', ['KEYS', 'broker:*']],
  ['broker', ['FLUSHALL']],
  ['broker', ['PUBLISH', 'baton:bus:{x}', '']],
  ['broker', ['ACL', 'LIST']],
  ['baton', ['CONFIG', 'GET', 'masterauth']],
  ['baton', ['KEYS', 'baton:*']],
])('the user %s may not say %j', async (user, [command = '', ...words]) => {
  const confined = new Redis(urlOf(user));
  await expect(confined.call(command, ...words)).rejects.toThrow(/NOPERM/);
  await confined.quit();
});
