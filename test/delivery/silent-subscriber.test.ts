import { makeDevice, randomUser } from '../support/device.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { startReplica, stopReplicas, untilBeat } from '../support/replicas.ts';
import { startTcpProxy } from '../support/redis/tcp-proxy.ts';

afterEach(stopReplicas);

async function startPair() {
  const proxy = await startTcpProxy(sharedRedisUrl());
  const keyPrefix = randomPrefix();
  const [one, two] = await Promise.all([
    startReplica({ redisUrl: sharedRedisUrl(), keyPrefix }),
    startReplica({ redisUrl: proxy.url, keyPrefix }),
  ]);
  const user = randomUser();
  const laptop = makeDevice({ user, name: 'Laptop' });
  const phone = makeDevice({ user, name: 'Phone' });
  const onPhone = phone.listen(two);
  await onPhone.next('ready');
  const send = (content: string) => laptop.on(one).call('sendMessage', { body: { to: 'Phone', content } });
  await send('before');
  await onPhone.next('message', ({ data }) => data.content === 'before');
  return { proxy, two, phone, onPhone, send };
}

test('a replica that hears nothing but its own nonces keeps its subscriber', async () => {
  const keyPrefix = randomPrefix();
  const idle = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix });
  const redis = connectTo(sharedRedisUrl());
  // That is longer than it takes to notice that its subscriber is silent.
  for (let beats = 0; beats < 6; beats++) await untilBeat(idle, redis, keyPrefix);
  redis.disconnect();
  const metrics = await (await fetch(`${idle.adminUrl}/metrics`)).text();
  expect(metrics).toMatch(/^baton_bus_rebuilds_total 0$/m);
  expect(metrics).not.toMatch(/^baton_attach_rounds_total\{cause="nonce"\}/m);
});

test('a command connection that swallows everything is given up and made anew', async () => {
  const { proxy, two, phone, onPhone, send } = await startPair();
  proxy.silence('baton:commands');
  const cutAt = performance.now();
  const refused = await phone
    .on(two)
    .call('listDevices', { retries: 0 })
    .catch((error: unknown) => error);
  await phone.on(two).call('listDevices');
  const healedAfterMs = performance.now() - cutAt;
  await send('still there');
  await onPhone.next('message', ({ data }) => data.content === 'still there');

  expect(refused).toMatchObject({ code: 'store_unavailable' });
  expect(healedAfterMs).toBeLessThan(10_000);
  expect(onPhone.events.filter(({ name }) => name === 'ready')).toHaveLength(1);
  await onPhone.stop();
  await proxy.stop();
});

test('a subscription that nobody confirms after a reconnect does not end the replica', async () => {
  const { proxy, two, onPhone, send } = await startPair();
  const { asked, release } = proxy.hold('$9\r\nsubscribe\r\n');
  proxy.cut('baton:subscriber');
  await asked;
  // The attach was sent later than the subscription, and is given up later.
  await onPhone.next('degraded');
  release();
  await onPhone.next('restored');
  await send('heard again');
  await onPhone.next('message', ({ data }) => data.content === 'heard again');

  expect(two.process.exitCode).toBeNull();
  expect(onPhone.events.filter(({ name }) => name === 'ready')).toHaveLength(1);
  await onPhone.stop();
  await proxy.stop();
});
