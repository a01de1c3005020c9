import request from 'supertest';
import type { Identity } from '../../../../services/sync/identity/identity.ts';
import { BatonError, type ErrorCode } from '../../../../shared/contract/errors.ts';
import { ALICE, publicApp } from '../public-app.ts';

const TRANSFER = '/api/transfer/01920000-0000-7000-8000-000000000001';
const missing = () => {
  throw new BatonError('not_found');
};

describe('what was not found is said', () => {
  const handlers = {
    ...{ renameDevice: missing, getTransfer: missing, acceptTransfer: missing, removePushSubscription: missing },
    ...{ sendMessage: missing, denyLogin: missing },
  };
  const { app } = publicApp({ handlers });
  const detailOf = async (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object) => {
    const answer = await request(app)[method](path).set(ALICE).send(body).expect(404);
    expect(answer.body).toMatchObject({ code: 'not_found' });
    return (answer.body as { detail: string }).detail;
  };

  test.each([
    ['patch', '/api/devices/phone-001', { name: 'x' }, 'device'],
    ['patch', '/api/devices/no%20id', { name: 'x' }, 'device'],
    ['post', '/api/message', { to: 'Phone', content: 'x' }, 'device'],
    ['get', TRANSFER, undefined, 'transfer'],
    ['get', '/api/transfer/not-a-uuid', undefined, 'transfer'],
    ['post', `${TRANSFER}/accept`, undefined, 'transfer'],
    ['delete', '/api/push/subscriptions/01920000-0000-7000-8000-000000000001', undefined, 'push subscription'],
    ['post', '/api/auth/qr/deny', { request_id: 'x' }, 'sign-in request'],
    ['get', '/api/nothing', undefined, 'path'],
  ] as const)('%s %s', async (method, path, body, what) => {
    expect(await detailOf(method, path, body)).toContain(what);
  });

  test('unless whoever looked knows better', async () => {
    const handlerWith = () => {
      throw new BatonError('not_found', 'It went away');
    };
    const other = publicApp({ handlers: { getTransfer: handlerWith } }).app;
    expect((await request(other).get(TRANSFER).set(ALICE).expect(404)).body).toMatchObject({ detail: 'It went away' });
  });
});

describe('401 names the scheme (RFC 6750)', () => {
  const refusing = (code: ErrorCode, detail?: string): Identity => ({
    identify: () => Promise.reject(new BatonError(code, detail)),
    restoreRow: () => Promise.resolve(false),
  });
  const challengeOf = async (identity: Identity, headers: Record<string, string>): Promise<string | undefined> => {
    const { app } = publicApp({ identity });
    return (await request(app).get('/api/me').set(headers).expect(401)).headers['www-authenticate'];
  };

  test('and nothing more to whoever showed no token', async () => {
    expect(await challengeOf(refusing('unauthenticated'), {})).toBe('Bearer realm="baton"');
    expect(await challengeOf(refusing('unauthenticated'), { Authorization: 'Basic eDp5' })).toBe(
      'Bearer realm="baton"',
    );
  });

  test('and what is wrong with a token to whoever showed one', async () => {
    const shown = { Authorization: 'Bearer x' };
    expect(await challengeOf(refusing('unauthenticated', 'The access token has expired'), shown)).toBe(
      'Bearer realm="baton", error="invalid_token", error_description="The access token has expired"',
    );
    expect(await challengeOf(refusing('session_revoked'), shown)).toContain('error="invalid_token"');
  });

  test('in characters that may stand there', async () => {
    const challenge = await challengeOf(refusing('unauthenticated', 'a "b" \\ ü\nc'), { Authorization: 'Bearer x' });
    expect(challenge).toMatch(/error_description="a b  +c"$/);
  });

  test('and no other status does', async () => {
    const { app } = publicApp();
    expect((await request(app).get('/api/nothing').expect(404)).headers['www-authenticate']).toBeUndefined();
  });
});

test('the line of a 5xx has its status, its duration and its code, and no cause', async () => {
  const { app, lines } = publicApp({
    handlers: {
      getClipboard: () => {
        throw new BatonError('store_unavailable');
      },
    },
  });
  await request(app).get('/api/clipboard').set(ALICE).set('X-Request-Id', 'one').expect(503);
  const line = lines.find(({ msg }) => msg === 'request completed');
  expect(line).toMatchObject({
    level: 40,
    req: { id: 'one', method: 'GET', path: '/api/clipboard' },
    res: { status: 503, route: '/api/clipboard', code: 'store_unavailable' },
    responseTime: expect.any(Number),
  });
  expect(line).not.toHaveProperty('err');
});

describe('the icon', () => {
  test('is there for browsers, and may be kept', async () => {
    const answer = await request(publicApp().app).get('/favicon.ico').expect(200).buffer(true);
    expect(answer.headers['content-type']).toBe('image/x-icon');
    expect(answer.headers['cache-control']).toBe('public, max-age=86400');
    const icon = answer.body as Buffer;
    // The bytes are ICONDIR, then the size and place of the only image, which ends with the file.
    expect([...icon.subarray(0, 8)]).toEqual([0, 0, 1, 0, 1, 0, 16, 16]);
    expect(icon.readUInt32LE(14) + icon.readUInt32LE(18)).toBe(icon.length);
  });
});
