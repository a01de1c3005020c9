import { connect, type Socket } from 'node:net';
import type { Presence } from '../../shared/contract/modules/presence.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';
import { startTcpProxy, type TcpProxy } from '../support/redis/tcp-proxy.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(() => site.stop());

/** Asks for a stream of the device and does nothing more; nobody reads the answer. */
function openBareStream(replica: ReplicaProcess, { headers }: TestDevice, more: Record<string, string> = {}): Socket {
  const socket = connect(Number(new URL(replica.url).port), '127.0.0.1');
  const lines = Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`${['GET /api/hub/events HTTP/1.1', 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n`);
  return socket.on('error', () => undefined);
}

const metricsOf = async ({ adminUrl }: ReplicaProcess): Promise<string> => (await fetch(`${adminUrl}/metrics`)).text();

test('a client that leaves while it is still asked who it is leaves no stream behind, and is offline', async () => {
  const proxy = await startTcpProxy(sharedRedisUrl());
  const slow = await startReplica({ redisUrl: proxy.url, keyPrefix: site.prefix });
  const user = randomUser();
  const [phone, laptop] = [makeDevice({ user, name: 'Phone' }), makeDevice({ user, name: 'Laptop' })];
  const onLaptop = laptop.listen(slow);
  await onLaptop.next('ready');

  const { asked, release } = proxy.hold(phone.id);
  const socket = openBareStream(slow, phone);
  await asked;
  socket.destroy();
  const ended = /^baton_http_requests_total\{route="\/api\/hub\/events".*\} [1-9]/m;
  await until(
    () => metricsOf(slow),
    (text) => ended.test(text),
    'the end of the request',
  );
  release();

  await phone.on(site.two).call('getMe');
  expect(await metricsOf(slow)).toMatch(/^baton_streams 1$/m);
  await onLaptop.stop();
  await slow.kill();
  await proxy.stop();
});

/** No stream can have had this position, so only this attach asks about it. */
const POSITION = '1700000000000-123456789';

test.each([
  ['comes late', () => undefined],
  ['never comes', (proxy: TcpProxy) => proxy.cut('baton:commands')],
])(
  'a client that leaves while nobody knows whether its stream was attached leaves no route behind, and is offline: the answer %s',
  async (_, lose) => {
    const proxy = await startTcpProxy(sharedRedisUrl());
    const slow = await startReplica({ redisUrl: proxy.url, keyPrefix: site.prefix });
    const user = randomUser();
    const [phone, laptop] = [makeDevice({ user, name: 'Phone' }), makeDevice({ user, name: 'Laptop' })];
    await phone.on(site.one).call('getMe');
    const onLaptop = laptop.listen(site.one);
    await onLaptop.next('ready');
    const phoneIs = (isOnline: boolean) => (event: { data: Presence }) =>
      event.data.devices.some(({ name, online }) => name === 'Phone' && online === isOnline);

    const { asked, release } = proxy.hold(POSITION);
    const socket = openBareStream(slow, phone, { 'Last-Event-ID': POSITION });
    await asked;
    // The store has carried out the attach.
    const { at: onlineAt } = await onLaptop.next('presence', phoneIs(true));
    socket.destroy();
    const ended = /^baton_streams_closed_total\{.*\} 1$/m;
    await until(
      () => metricsOf(slow),
      (text) => ended.test(text),
      'the end of the stream',
    );
    lose(proxy);
    release();

    await onLaptop.next('presence', (event) => event.at > onlineAt && phoneIs(false)(event));
    const openRows = async () => {
      const rows = await site.redis.hvals(`${site.prefix}:{${user}}:routes`);
      return rows.filter((row) => row.includes(phone.id) && row.endsWith('\n0'));
    };
    expect(await until(openRows, (rows) => rows.length === 0, 'no route of the phone to be open')).toEqual([]);
    await until(
      () => metricsOf(slow),
      (text) => /^baton_streams 0$/m.test(text),
      'no stream to be left',
    );
    // A request on this connection now comes after anything that was sent again on it.
    await phone.on(slow).call('getMe');
    expect(await openRows()).toEqual([]);
    await onLaptop.stop();
    await slow.kill();
    await proxy.stop();
  },
);
