import { sharedRedisUrl } from '../support/redis/redis.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { startTcpProxy } from '../support/redis/tcp-proxy.ts';
import { expectProblem } from '../support/wire.ts';

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(() => site.stop());

// Proves G23.
test('a replica that missed the announcement ends the streams of the device within seconds', async () => {
  const proxy = await startTcpProxy(sharedRedisUrl());
  const cutOff = await site.startReplica({ APP_REDIS_URL: proxy.url });
  const laptop = await site.signIn();
  const phone = await site.signIn(laptop.user, { device_name: 'Phone' });
  const stream = phone.listen(cutOff);
  await stream.next('ready');
  proxy.silence('subscribe');
  const removedAt = performance.now();
  await laptop.ask(site.one, { method: 'DELETE', path: `/api/devices/${phone.deviceId}` });
  const { at } = await stream.next('session:revoked');
  process.stdout.write(`revoked: on a replica that heard nothing after ${Math.round(at - removedAt)} ms\n`);

  expect(at - removedAt).toBeLessThan(10_000);
  expectProblem(await phone.ask(cutOff, { path: '/api/me' }), 'session_revoked');
  await stream.stop();
  await cutOff.kill();
  await proxy.stop();
});

test('streams that old secrets opened end on a replica whose subscriber was away when a log-in took the session over', async () => {
  const proxy = await startTcpProxy(sharedRedisUrl());
  const cutOff = await site.startReplica({ APP_REDIS_URL: proxy.url });
  const old = await site.signIn(undefined, { scope: 'guest' });
  const login = await site.logIn(old.user);
  const stream = old.listen(cutOff);
  await stream.next('ready');
  const cutting = setInterval(() => proxy.cut('subscribe'), 1);
  const body = { device_id: old.deviceId, device_name: 'Laptop', device_type: 'browser', scope: 'full' };
  const taken = await login.ask(site.one, { method: 'POST', path: '/api/auth/device-session', body });
  clearInterval(cutting);

  expect(taken.status).toBe(200);
  expect((await stream.next('reconnect')).data).toMatchObject({ reason: 'rotate' });
  await stream.stop();
  await cutOff.stop();
  await proxy.stop();
});
