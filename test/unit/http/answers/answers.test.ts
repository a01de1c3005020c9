import request from 'supertest';
import { ALICE, publicApp } from '../public-app.ts';

const paths = ['/api/me', '/api/nothing', '/', '/healthz', '/api/docs'];

describe('every answer', () => {
  test.each(paths)('from %s tells the version of the contract and the id of the request', async (path) => {
    const answer = await request(publicApp().app).get(path);
    expect(answer.headers).toMatchObject({
      'x-api-version': '1',
      'x-request-id': expect.stringMatching(/^[\w-]{16}$/),
    });
  });

  test.each(paths)('from %s says nothing about the server and allows no other origin', async (path) => {
    const { headers } = await request(publicApp().app).get(path).set('Origin', 'https://evil.example');
    expect(Object.keys(headers).filter((name) => /^(x-powered-by|etag|access-control-.*|server)$/.test(name))).toEqual(
      [],
    );
  });

  test('under /api is not stored by caches', async () => {
    const { app } = publicApp();
    for (const path of ['/api/me', '/api/nothing', '/api']) {
      await request(app).get(path).expect('Cache-Control', 'no-store');
    }
  });

  test('forbids framing, scripts from elsewhere and referrers with paths', async () => {
    const { headers } = await request(publicApp().app).get('/');
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'strict-origin' });
  });
});

describe('the id of a request', () => {
  test.each(['a', 'A.b_c-9', 'x'.repeat(64)])('is taken over: %s', async (id) => {
    await request(publicApp().app).get('/healthz').set('X-Request-Id', id).expect('X-Request-Id', id);
  });

  test.each(['', 'x'.repeat(65), 'a b', 'a,b', '<script>'])('is replaced when it is "%s"', async (id) => {
    const answer = await request(publicApp().app).get('/healthz').set('X-Request-Id', id);
    expect(answer.headers['x-request-id']).toMatch(/^[\w-]{16}$/);
  });
});

describe('the request log', () => {
  test('has one line for an answer, with the path and without query, headers or body', async () => {
    const { app, lines } = publicApp();
    const sent = { to: 'Phone', content: 'the text of a user' };
    await request(app).post('/api/message?code=hidden').set(ALICE).set('Authorization', 'Bearer hidden').send(sent);
    expect(lines).toMatchObject([
      {
        level: 30,
        req: { id: expect.any(String), method: 'POST', path: '/api/message' },
        res: { status: 201, route: '/api/message' },
      },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/hidden|text of a user|alice|laptop-01/);
  });

  test('tells a stream when it opens, once', async () => {
    const { app, lines } = publicApp();
    await request(app).get('/api/hub/events?dev_user=alice').expect(200);
    expect(lines).toMatchObject([{ msg: 'stream opened', req: { path: '/api/hub/events' } }]);
    expect(JSON.stringify(lines)).not.toContain('alice');
  });

  test('tells of many streams at once only some, and counts them all', async () => {
    const { app, lines, counted } = publicApp();
    await Promise.all(Array.from({ length: 40 }, () => request(app).get('/api/hub/events?dev_user=alice').expect(200)));
    expect(lines.length).toBeGreaterThanOrEqual(10);
    expect(lines.length).toBeLessThan(40);
    const opened = { route: '/api/hub/events', method: 'GET', status: '200' };
    expect(await counted('baton_http_requests_total', opened)).toBe(40);
  });

  test('tells the refusal of a stream like any other', async () => {
    const { app, lines } = publicApp();
    await request(app).get('/api/hub/events').expect(401);
    expect(lines).toMatchObject([{ res: { status: 401, route: '/api/hub/events', code: 'unauthenticated' } }]);
  });
});

describe('the metrics of requests', () => {
  test('count answers by row of the route table, and time them', async () => {
    const { app, counted, timed } = publicApp();
    await request(app).patch('/api/devices/phone-001').set(ALICE).send({ name: 'New' });
    await request(app).get('/api/nothing/12345');
    const rename = { route: '/api/devices/{device_id}', method: 'PATCH', status: '200' };
    expect(await counted('baton_http_requests_total', rename)).toBe(1);
    expect(await counted('baton_http_requests_total', { route: 'none', status: '404' })).toBe(1);
    expect(await timed()).toEqual(['/api/devices', 'other']);
  });

  test('count an open stream once and do not time it', async () => {
    const { app, counted, timed } = publicApp();
    await request(app).get('/api/hub/events').set(ALICE);
    expect(await counted('baton_http_requests_total', { route: '/api/hub/events', status: '200' })).toBe(1);
    expect(await timed()).toEqual([]);
  });
});
