import { connect } from 'node:net';
import { makeDevice, randomUser } from '../support/device.ts';
import { sharedRedisUrl } from '../support/redis.ts';
import { until } from '../support/redis-processes.ts';
import { startReplica } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';

import { startTcpProxy } from '../support/tcp-proxy.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(() => site.stop());

test('a client that leaves while it is still asked who it is leaves no stream behind, and is offline', async () => {
  const proxy = await startTcpProxy(sharedRedisUrl());
  const slow = await startReplica({ redisUrl: proxy.url, keyPrefix: site.prefix });
  const user = randomUser();
  const [phone, laptop] = [makeDevice({ user, name: 'Phone' }), makeDevice({ user, name: 'Laptop' })];
  const onLaptop = laptop.listen(slow);
  await onLaptop.next('ready');

  const { asked, release } = proxy.hold(phone.id);
  const socket = connect(Number(new URL(slow.url).port), '127.0.0.1');
  const lines = Object.entries(phone.headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${['GET /api/hub/events HTTP/1.1', 'Host: x', ...lines].join('\r\n')}\r\n\r\n`);
  const metrics = async () => (await fetch(`${slow.adminUrl}/metrics`)).text();
  await asked;
  socket.destroy();
  const ended = /^baton_http_requests_total\{route="\/api\/hub\/events".*\} [1-9]/m;
  await until(metrics, (text) => ended.test(text), 'the end of the request');
  release();

  await phone.on(site.two).call('getMe');
  expect(await metrics()).toMatch(/^baton_streams 1$/m);
  await onLaptop.stop();
  await slow.kill();
  await proxy.stop();
});
