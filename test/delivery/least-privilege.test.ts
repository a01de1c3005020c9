import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { Presence } from '../../shared/contract/modules/presence.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { startReplica, stopReplicas } from '../support/replicas.ts';

const ACL = new URL('../../deploy/redis/users.acl', import.meta.url);
const PASSWORD = 'only-for-this-test';

const ENV = { APP_CLIPBOARD_TTL_SECONDS: '1', APP_MESSAGE_WAIT_REPLICAS: '1' };

let redis: OwnRedis;

beforeAll(async () => {
  redis = await startOwnRedis();
  const [user = ''] = /^user .*$/m.exec(readFileSync(ACL, 'utf8')) ?? [];
  const admin = new Redis(redis.url);
  const rules = user.replace(/^user baton /, '').replace(/#0{64}/, `>${PASSWORD}`);
  await admin.acl('SETUSER', 'baton', ...rules.split(' '));
  await admin.quit();
});
afterAll(async () => {
  await stopReplicas();
  await redis.stop();
});

test('the shipped Redis user may do everything that a replica does, and touch no other key', async () => {
  const url = redis.url.replace('redis://', `redis://baton:${PASSWORD}@`);
  const [one, two] = await Promise.all([1, 2].map(() => startReplica({ redisUrl: url, keyPrefix: 'baton', env: ENV })));
  if (!one || !two) throw new Error('no replicas');
  const user = randomUser();
  const [laptop, phone] = [makeDevice({ user, name: 'Laptop' }), makeDevice({ user, name: 'Phone' })];
  const onLaptop = laptop.listen(one);
  const onPhone = phone.listen(two);
  await Promise.all([onLaptop.next('ready'), onPhone.next('ready')]);

  const sent = await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: 'hello' } });
  const { data } = await onPhone.next('message');
  await phone.on(two).call('ackMessages', { body: { message_ids: [data.message_id] } });
  await onLaptop.next('message:delivered');
  await laptop.on(one).call('setClipboard', { body: { content: 'text', content_type: 'text/plain' } });
  await onPhone.next('clipboard:cleared');
  await phone.on(two).call('renameDevice', { params: { device_id: phone.id }, body: { name: 'Pocket' } });
  await onLaptop.next('device:renamed');
  await two.kill();
  const isGone = (event: { data: Presence }) => event.data.devices.some((d) => d.name === 'Pocket' && !d.online);
  await onLaptop.next('presence', isGone, 40_000);

  const confined = new Redis(url);
  await expect(confined.get('other:key')).rejects.toThrow(/NOPERM/);
  expect(one.log()).not.toContain('NOPERM');
  // An operator who watches the server for refused commands has no false alarm at each start.
  const admin = new Redis(redis.url);
  const refused = (await admin.acl('LOG')) as unknown[];
  expect(refused.filter((entry) => !JSON.stringify(entry).includes('other:key'))).toEqual([]);
  await admin.quit();
  // There are no replicas here. Without the right to ask for them the answer would be a 500.
  expect(sent.status).toBe(202);
  await confined.quit();
  await Promise.all([onLaptop.stop(), onPhone.stop()]);
});
