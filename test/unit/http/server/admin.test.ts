import type { Logger } from 'pino';
import request from 'supertest';
import { makeAdminApp } from '../../../../shared/service-kit/http/admin.ts';
import { makeLogger } from '../../../../shared/service-kit/telemetry/logger.ts';
import { makeMetrics } from '../../../../services/sync/telemetry/metrics.ts';

const silent = makeLogger({ level: 'silent', server: 'test' });

const admin = (parts: { ready?: boolean; status?: () => Promise<object>; logger?: Logger } = {}) =>
  makeAdminApp({
    isReady: () => (parts.ready === false ? { ready: false, reasons: ['draining'] } : { ready: true, reasons: [] }),
    status: parts.status ?? (() => Promise.resolve({ store: 'up' })),
    registry: makeMetrics({ version: '1.2.3' }).registry,
    logger: parts.logger ?? silent,
  });

test('a replica is alive as long as it answers, ready or not', async () => {
  await request(admin({ ready: false }))
    .get('/livez')
    .expect(200);
});

test('a replica that is not ready says why', async () => {
  await request(admin()).get('/readyz').expect(200);
  await request(admin({ ready: false }))
    .get('/readyz')
    .expect('Retry-After', '1')
    .expect(503, { ready: false, reasons: ['draining'] });
});

test('the status is what its dependencies look like now', async () => {
  await request(admin()).get('/statusz').expect(200, { store: 'up' });
});

test('a status that cannot be had does not tell why', async () => {
  const app = admin({ status: () => Promise.reject(new Error('redis://user:password@host')) });
  const answer = await request(app).get('/statusz').expect(500);
  expect(answer.text).not.toContain('password');
});

test('what is probed and scraped is not logged, any other request is, in one line', async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const app = admin({ logger: makeLogger({ level: 'info', server: 'test' }, { write }) });
  for (const path of ['/livez', '/readyz', '/statusz', '/metrics']) await request(app).get(path).expect(200);
  expect(lines).toEqual([]);
  await request(app).get('/elsewhere?code=hidden').set('X-Request-Id', 'one').expect(404);
  expect(lines).toMatchObject([
    {
      level: 30,
      msg: 'request completed',
      req: { id: 'one', method: 'GET', path: '/elsewhere' },
      res: { status: 404 },
    },
  ]);
});

test("the metrics are Prometheus text, Node's own included", async () => {
  const answer = await request(admin())
    .get('/metrics')
    .expect('Content-Type', /^text\/plain; version=0\.0\.4/);
  expect(answer.text).toContain('baton_build_info{version="1.2.3"');
  expect(answer.text).toContain('nodejs_eventloop_lag_seconds');
  expect(answer.text).toMatch(/^baton_event_loop_utilization_ratio (0|1|0\.\d+(e-\d+)?)$/m);
});

test('nothing else is served there', async () => {
  await request(admin()).get('/api/me').expect(404);
});

test.each(['/livez', '/metrics', '/elsewhere'])('%s carries what every answer carries', async (path) => {
  const answer = await request(admin()).get(path).set('X-Request-Id', 'probe-1');
  expect(answer.headers).toMatchObject({
    ...{ 'x-api-version': '1', 'x-request-id': 'probe-1', 'cache-control': 'no-store' },
  });
});
