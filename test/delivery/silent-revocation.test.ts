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
