import request from 'supertest';
import type { Call, Handlers } from '../../../../services/sync/http/handler.ts';
import { makeExpress } from '../../../../shared/service-kit/http/express-app.ts';
import { mountRouters } from '../../../../services/sync/http/router.ts';
import type { Caller } from '../../../../services/sync/identity/caller.ts';
import { sendAway } from '../../../../services/sync/streams/opening/send-away.ts';
import { makeLogger } from '../../../../shared/service-kit/telemetry/logger.ts';
import { makeMetrics } from '../../../../services/sync/telemetry/metrics.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../../shared/contract/routes.ts';
import { ALICE, PUBLIC_URL, publicApp } from '../public-app.ts';

const ENTRY = {
  content: '',
  content_type: null,
  source_device_id: null,
  source_device_name: null,
  updated_at: null,
  expires_at: null,
};
const MESSAGE = { to: 'Phone', content: 'hello' };

/** Makes a handler that records its calls. */
function recorded() {
  const calls: Call<Route>[] = [];
  const keep =
    (status: number) =>
    (call: unknown): never => {
      calls.push(call as Call<Route>);
      return { status } as never;
    };
  return { calls, keep };
}

describe('starting', () => {
  const start = (handlers: Partial<Handlers>) => () =>
    mountRouters(makeExpress(), {
      handlers: handlers as Handlers,
      identity: { identify: () => Promise.reject(new Error()), restoreRow: () => Promise.resolve(false) },
      sameOrigin: () => undefined,
      addressLimits: {
        auth: (_req, _res, next) => next(),
        device_session: (_req, _res, next) => next(),
        qr_start: (_req, _res, next) => next(),
      },
      replicaLimits: { check: () => undefined },
      accountQueue: { enter: () => null },
      sendAway,
      isRevoked: () => false,
      onCaller: () => undefined,
      requireRow: () => Promise.resolve(),
      disabled: new Set(),
      metrics: makeMetrics({ version: 'test' }),
      logger: makeLogger({ level: 'silent', server: 'test' }),
    });
  const all = Object.fromEntries(Object.keys(ROUTES).map((name) => [name, () => null])) as unknown as Handlers;

  test('succeeds with a handler for every row of the route table', () => {
    expect(start(all)).not.toThrow();
  });

  test('fails without the handler of a row', () => {
    const { getMe: _, ...rest } = all;
    expect(start(rest)).toThrow('Missing: getMe');
  });

  test('fails with a handler that has no row', () => {
    expect(start({ ...all, getNothing: () => null } as unknown as Handlers)).toThrow('Without a row: getNothing');
  });
});

describe('methods', () => {
  test('an unknown path is not found', async () => {
    const { app } = publicApp();
    const answer = await request(app).get('/api/nothing').expect(404);
    expect(answer.body).toMatchObject({ code: 'not_found' });
  });

  test.each(['/API/me', '/api/me/', '/api//me', '/api/%6de'])('%s is not another spelling of /api/me', async (path) => {
    const { app } = publicApp();
    await request(app).get(path).set(ALICE).expect(404);
  });

  test.each(Object.values<Route>(ROUTES))('$method $path is found, and taken for no other row', async (route) => {
    const { app, counted } = publicApp();
    const path = route.path.replaceAll(/\{\w+\}/g, 'a%20b');
    await request(app)[route.method.toLowerCase() as 'get'](path).set(ALICE);
    expect(await counted('baton_http_requests_total', { route: route.path, method: route.method })).toBe(1);
  });

  test('a path of words alone is never taken for a parameter', async () => {
    await request(publicApp().app).get('/api/transfer/init').set(ALICE).expect(405).expect('Allow', 'POST');
  });

  test.each([
    ['delete', '/api/message', 'POST, GET, HEAD'],
    ['post', '/api/clipboard', 'GET, HEAD, PUT, DELETE'],
    ['options', '/api/clipboard', 'GET, HEAD, PUT, DELETE'],
    ['get', '/api/message/ack', 'POST'],
    ['head', '/api/message/ack', 'POST'],
    ['get', '/api/devices/laptop-01', 'DELETE, PATCH'],
    ['head', '/api/hub/events', 'GET'],
    ['post', '/api/hub/events', 'GET'],
  ] as const)('%s %s is refused with the methods that there are', async (method, path, allow) => {
    const { app } = publicApp();
    const answer = await request(app)[method](path).expect(405);
    expect(answer.headers['allow']).toBe(allow);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('HEAD answers like GET, without the body', async () => {
    const { app } = publicApp({ handlers: { getClipboard: () => ({ status: 200, body: ENTRY }) } });
    const got = await request(app).get('/api/clipboard').set(ALICE).expect(200);
    const head = await request(app).head('/api/clipboard').set(ALICE).expect(200);
    expect(head.headers['content-length']).toBe(got.headers['content-length']);
    expect(head.text).toBeUndefined();
  });
});

describe('the chain', () => {
  test('hands on the caller, the parameters and the body', async () => {
    const { calls, keep } = recorded();
    const { app } = publicApp({ handlers: { renameDevice: keep(200) } });
    await request(app).patch('/api/devices/phone-001').set(ALICE).send({ name: 'Phone', extra: 1 }).expect(200);
    expect(calls).toMatchObject([
      {
        caller: { userId: 'alice', deviceId: 'laptop-01' },
        params: { device_id: 'phone-001' },
        body: { name: 'Phone' },
      },
    ]);
  });

  test('public routes do not look at who asks', async () => {
    const { app } = publicApp();
    await request(app).get('/healthz').set('X-Dev-Device', '!').expect(200, { status: 'ok' });
  });

  test('nobody gets in without identity, and that is counted', async () => {
    const { app, counted } = publicApp();
    await request(app).get('/api/me').expect(401);
    expect(await counted('baton_auth_rejections_total', { reason: 'unauthenticated' })).toBe(1);
  });

  test('another site is refused before the identity is looked at', async () => {
    const { app, counted } = publicApp();
    const write = request(app).delete('/api/clipboard').set('Origin', 'https://evil.example');
    expect((await write.expect(403)).body).toMatchObject({ code: 'cross_site' });
    expect(await counted('baton_auth_rejections_total', { reason: 'cross_site' })).toBe(1);
    await request(app).delete('/api/clipboard').set(ALICE).set('Origin', PUBLIC_URL).expect(204);
    await request(app).get('/api/clipboard').set(ALICE).set('Origin', 'https://evil.example').expect(200);
  });

  test('a guest may rename only its own device', async () => {
    const { app } = publicApp();
    const guest = { ...ALICE, 'X-Dev-Scope': 'guest' };
    const rename = (device: string) => request(app).patch(`/api/devices/${device}`).set(guest).send({ name: 'New' });
    await rename('laptop-01').expect(200);
    expect((await rename('phone-001').expect(403)).body).toMatchObject({ code: 'guest_forbidden' });
  });

  test('a refused caller does not have its body read', async () => {
    const { app } = publicApp();
    await request(app).post('/api/message').set('Content-Type', 'text/plain').send('{').expect(401);
  });

  test('the limiter of sign-in sees every path under its prefix, known or not', async () => {
    const seen: string[] = [];
    const { app } = publicApp({ auth: (req, _res, next) => (seen.push(req.originalUrl), next()) });
    await request(app).get('/api/auth/nothing').expect(404);
    await request(app).get('/api/me').set(ALICE).expect(200);
    expect(seen).toEqual(['/api/auth/nothing']);
  });
});

describe('operations', () => {
  const send = async (headers: Record<string, string | string[]>, body: object = MESSAGE, path = '/api/message') => {
    const { calls, keep } = recorded();
    const { app } = publicApp({ handlers: { sendMessage: keep(201), ackMessages: keep(200) } });
    const post = request(app).post(path).set(ALICE);
    for (const [name, value] of Object.entries(headers)) post.set(name, value as string);
    const answer = await post.send(body);
    return { answer, operation: calls[0]?.operation };
  };

  test('a request without key gets a random id', async () => {
    const [first, second] = [await send({}), await send({})];
    expect(first.operation).toMatchObject({ keyed: false, id: expect.stringMatching(/^[\w-]{22}$/) });
    expect(first.operation?.id).not.toBe(second.operation?.id);
    expect(first.operation?.fingerprint).toBe(second.operation?.fingerprint);
  });

  test('a key is the id, and another body has another fingerprint', async () => {
    const key = { 'Idempotency-Key': 'a'.repeat(64) };
    const [first, second] = [await send(key), await send(key, { ...MESSAGE, content: 'other' })];
    expect(first.operation).toMatchObject({ keyed: true, id: 'a'.repeat(64) });
    expect(first.operation?.fingerprint).not.toBe(second.operation?.fingerprint);
  });

  test.each(['', 'a'.repeat(65), 'with space', 'ä'])('the key "%s" is refused', async (key) => {
    const { answer } = await send({ 'Idempotency-Key': Buffer.from(key).toString('latin1') });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_request', errors: [{ path: '/header/Idempotency-Key' }] });
  });

  test('two keys are refused', async () => {
    const { answer } = await send({ 'Idempotency-Key': ['one', 'two'] });
    expect(answer.status).toBe(400);
  });

  test('a key on a route that does not honour it is ignored', async () => {
    const ids = { message_ids: ['01890a5d-ac96-774b-bcce-b302099a8057'] };
    const { operation } = await send({ 'Idempotency-Key': 'not valid' }, ids, '/api/message/ack');
    expect(operation).toMatchObject({ keyed: false });
  });
});

describe('a device without row', () => {
  const app = (outcomes: (Error | null)[], restored: boolean) => {
    const restores: string[] = [];
    const caller: Caller = {
      userId: 'alice',
      account: 'alice',
      scope: 'full',
      name: 'Alice',
      roles: [],
      deviceId: 'laptop-01',
    };
    const built = publicApp({
      identity: {
        identify: () => Promise.resolve(caller),
        restoreRow: ({ deviceId }) => (restores.push(String(deviceId)), Promise.resolve(restored)),
      },
      handlers: {
        clearClipboard() {
          const error = outcomes.shift();
          if (error) throw error;
          return { status: 204 };
        },
      },
    });
    return { ...built, restores };
  };
  const missing = () => new BatonError('device_required');

  test('is restored once and the request runs again', async () => {
    const { app: server, restores } = app([missing(), null], true);
    await request(server).delete('/api/clipboard').expect(204);
    expect(restores).toEqual(['laptop-01']);
  });

  test('that cannot be restored stays refused', async () => {
    const { app: server } = app([missing(), null], false);
    await request(server).delete('/api/clipboard').expect(403);
  });

  test('that is missing again is refused, without a third try', async () => {
    const { app: server, restores } = app([missing(), missing(), null], true);
    await request(server).delete('/api/clipboard').expect(403);
    expect(restores).toHaveLength(1);
  });

  test('is not restored for any other failure', async () => {
    const { app: server, restores } = app([new BatonError('rate_limited')], true);
    await request(server).delete('/api/clipboard').expect(429);
    expect(restores).toEqual([]);
  });
});
