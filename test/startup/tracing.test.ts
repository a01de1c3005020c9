import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type BrokerProcess, spawnBroker, stopBrokers, TOKEN } from '../broker/support/brokers.ts';
import { newSubject, serviceOf } from '../broker/support/service.ts';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { makeDevice } from '../support/device.ts';
import { closeRawStreams, openRawStream } from '../support/raw-stream.ts';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { request } from '../support/wire.ts';

/* Tests traces as an operator turns them on: with `node --import`, and the variables of OpenTelemetry. */

const TRACING = fileURLToPath(new URL('../../dist/services/tracing/main.js', import.meta.url));
const ORIGIN = 'http://localhost:8080';
const [SERVER, CLIENT] = [2, 3];

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}
interface Sent {
  resourceSpans: {
    resource: { attributes: SentSpan['attributes'] };
    scopeSpans: { spans: SentSpan[] }[];
  }[];
}

const spans: SentSpan[] = [];
const services = new Set<string | undefined>();
let text = '';
let collector: Server;
let broker: BrokerProcess;
let replica: ReplicaProcess;

/** Starts a server that takes what an OpenTelemetry collector takes: OTLP over HTTP, as JSON. */
async function startCollector(): Promise<Server> {
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    req.on('end', () => {
      text += body;
      for (const { resource, scopeSpans } of (JSON.parse(body) as Sent).resourceSpans) {
        services.add(resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue);
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      res.setHeader('Content-Type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const attribute = (span: SentSpan, key: string) => {
  const value = span.attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
};
const isThere = (found: SentSpan[]): boolean => found.length > 0;
const named = async (name: string): Promise<SentSpan> => {
  const ask = () => Promise.resolve(spans.filter((span) => span.name === name));
  return (await until(ask, isThere, name))[0] as SentSpan;
};

beforeAll(async () => {
  const redisUrl = sharedRedisUrl();
  [collector, broker] = await Promise.all([
    startCollector(),
    Promise.resolve(spawnBroker({ BROKER_REDIS_URL: redisUrl, BROKER_KEY_PREFIX: randomPrefix() }, await freePort())),
  ]);
  await broker.ready();
  const { port } = collector.address() as AddressInfo;
  replica = await startReplica({
    ...{ redisUrl, keyPrefix: randomPrefix(), nodeFlags: [`--import=${TRACING}`] },
    env: {
      ...{ APP_IDENTITY: 'broker', APP_BROKER_URL: broker.url, APP_BROKER_TOKEN: TOKEN, APP_PUBLIC_URL: ORIGIN },
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '100' },
    },
  });
});
afterAll(async () => {
  closeRawStreams();
  await stopReplicas();
  await stopBrokers();
  collector.close();
});

async function signIn() {
  const device = makeDevice({ user: newSubject() });
  const wanted = { subject: device.user, meta: device.id, label: 'Laptop', scope: 'full' as const };
  return `baton=${(await serviceOf(broker).mint(wanted)).cookie.value}`;
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const ABOVE = '00f067aa0ba902b7';

test('a request is one span below that of its sender, with its scripts and calls of the broker below it, and no secret', async () => {
  const cookie = await signIn();
  const headers = { Cookie: cookie, Origin: ORIGIN, traceparent: `00-${TRACE}-${ABOVE}-01` };
  const body = { content: 'not for the collector', content_type: 'text/plain' };
  const answer = await request(replica, { method: 'PUT', path: '/api/clipboard', headers, body });
  expect(answer.status).toBe(200);

  const span = await named('PUT /api/clipboard');
  expect(span).toMatchObject({ kind: SERVER, traceId: TRACE, parentSpanId: ABOVE });
  expect(attribute(span, 'http.route')).toBe('/api/clipboard');
  expect(attribute(span, 'http.response.status_code')).toBe(200);
  const below = await until(
    () => Promise.resolve(spans.filter(({ parentSpanId }) => parentSpanId === span.spanId)),
    (found) => found.length >= 2,
    'what is below it',
  );
  expect(below.every(({ kind, traceId }) => kind === CLIENT && traceId === TRACE)).toBe(true);
  expect(below.map(({ name }) => name)).toEqual(expect.arrayContaining(['POST', 'clipboard-set']));
  expect([...services]).toEqual(['baton-replica']);
  for (const secret of [cookie.slice(6), 'not for the collector', TOKEN]) expect(text).not.toContain(secret);
});

test('the span of a stream ends with its head, while the stream goes on', async () => {
  const stream = await openRawStream(replica, { Cookie: await signIn() });
  expect(stream.status).toBe(200);
  const span = await named('GET /api/hub/events');
  expect(attribute(span, 'http.response.status_code')).toBe(200);
});

test('an error has its code; probes are no spans', async () => {
  expect((await request(replica, { path: '/api/me', headers: {} })).status).toBe(401);
  const span = await named('GET /api/me');
  expect(attribute(span, 'error.type')).toBe('unauthenticated');
  expect(spans.filter(({ name, kind }) => kind === SERVER && (name === 'GET' || name.includes('health')))).toEqual([]);
});
