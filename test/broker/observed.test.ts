import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { until } from '../support/redis/redis-processes.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { startReplica, stopReplicas } from '../support/replicas.ts';
import { eventually, startBroker, stopBrokers, TOKEN } from './support/brokers.ts';

/* The broker as its operators see it: its admin port, its end, and what a replica says about it. */

afterAll(async () => {
  await stopReplicas();
  await stopBrokers();
});

const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

test('the admin port has health and metrics, and the public port has none of them', async () => {
  const broker = await startBroker();
  await fetch(`${broker.url}/v1/sessions?subject=somebody`, {
    headers: { Authorization: `Bearer ${TOKEN}`, 'X-Broker-App': 'baton' },
  });
  await fetch(`${broker.url}/nothing-here`);
  expect((await fetch(`${broker.adminUrl}/livez`)).status).toBe(200);
  expect(await (await fetch(`${broker.adminUrl}/readyz`)).json()).toEqual({ ready: true, reasons: [] });
  const metrics = await eventually('the requests are counted', async () => {
    const text = await textOf(`${broker.adminUrl}/metrics`);
    return text.includes('route="none",status="404"') ? text : null;
  });
  expect(metrics).toContain('baton_auth_broker_requests_total{route="/v1/sessions",status="200"} 1');
  expect(metrics).toMatch(/^baton_auth_broker_ready 1$/m);
  expect(metrics).toMatch(/^baton_auth_broker_redis_up 1$/m);
  // A sum over replicas must not count a broker.
  expect(metrics).not.toContain('baton_build_info');
  for (const path of ['/metrics', '/readyz', '/livez']) expect((await fetch(broker.url + path)).status).toBe(404);
});

test('asked to stop it answers on, each answer ends its connection, and it says that it is not ready', async () => {
  const broker = await startBroker({ env: { BROKER_DRAIN_NOTICE_SECONDS: '2' } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (): Promise<IncomingMessage> => {
    const [answer] = (await once(get(`${broker.url}/.well-known/jwks.json`, { agent }), 'response')) as [
      IncomingMessage,
    ];
    await answer.toArray();
    return answer;
  };
  expect((await ask()).headers.connection).toBe('keep-alive');
  const stopped = broker.stop();
  await until(
    async () => (await fetch(`${broker.adminUrl}/readyz`)).status,
    (status) => status === 503,
    'the notice',
  );
  const { statusCode, headers } = await ask();
  expect([statusCode, headers.connection]).toEqual([200, 'close']);
  expect(await stopped).toBe(0);
  agent.destroy();
});

test('a replica names a broker that does not answer at its start, and its end', async () => {
  const port = await freePort();
  const env = {
    APP_IDENTITY: 'broker',
    APP_BROKER_URL: `http://127.0.0.1:${port}`,
    APP_BROKER_TOKEN: TOKEN,
  };
  const replica = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix(), env });
  const statusOf = async () =>
    ((await (await fetch(`${replica.adminUrl}/statusz`)).json()) as { broker: object }).broker;
  const at = `127.0.0.1:${port}`;
  const failing = { up: false, at, reason: 'nothing listens there', failing: [] };
  await until(
    async () => JSON.stringify(await statusOf()),
    (text) => text === JSON.stringify(failing),
    'its name',
  );
  expect(await textOf(`${replica.adminUrl}/metrics`)).toMatch(/^baton_broker_up 0$/m);
  await until(
    async () => replica.log(),
    (log) => log.includes('auth broker cannot be used'),
    'a line of the log',
  );
  expect(replica.log()).toContain(`"at":"${at}","reason":"nothing listens there"`);
});
