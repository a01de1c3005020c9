import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { serviceOf } from '../broker/support/service.ts';
import { closeRawStreams, openRawStream } from '../support/raw-stream.ts';
import { isPublic, refusesStrangers, routesWhere, sampleRequest } from '../support/samples.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { makeInbox } from '../support/stream-recorder.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { EDGE_SECRET, type EdgeKind, isInstalled, startEdge } from './edges.ts';
import { type EdgeDevice, type EdgeSite, startEdgeSite } from './edge-site.ts';
import { startMirror } from './mirror.ts';

/* The product behind a real edge: real broker, two replicas with `APP_IDENTITY=edge`, everything through the public port. */

const KINDS: EdgeKind[] = ['nginx', 'caddy'];

const RECONNECT = /^retry: (\d+)\nevent: reconnect\ndata: {"reason":"store","retry_ms":\1}\n\n$/;

const sceneOf = (own: EdgeDevice, other: EdgeDevice) => ({
  own: { id: own.id, name: 'Own' },
  other: { id: other.id, name: 'Other' },
});

for (const kind of KINDS) {
  skipUnless(isInstalled(kind), `needs ${kind}`).describe(`behind ${kind}`, () => {
    let site: EdgeSite;
    let laptop: EdgeDevice;
    let phone: EdgeDevice;
    beforeAll(async () => {
      site = await startEdgeSite(kind);
      laptop = await site.signIn({ name: 'Laptop' });
      phone = await site.signIn({ subject: laptop.subject, name: 'Phone' });
    });
    afterEach(closeRawStreams);
    afterAll(() => site.stop());

    const origin = () => ({ Origin: site.edge.url });
    const send = (device: EdgeDevice, content: string) =>
      request(site.edge, {
        method: 'POST',
        path: '/api/message',
        headers: device.bearer,
        body: { to_device_id: phone.id, content },
      });

    test('a message reaches a stream at once, by cookie and by token', async () => {
      const stream = await openRawStream(site.edge, phone.cookie);
      expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
      await stream.until(/event: ready\n/);
      expect((await send(laptop, 'through the edge')).status).toBe(201);
      await stream.until(/event: message\ndata: .*through the edge.*\n\n/);
      const byToken = await openRawStream(site.edge, laptop.bearer);
      await byToken.until(/event: ready\n/);
    });

    test('nobody is refused in the words of the API', async () => {
      for (const name of routesWhere(refusesStrangers)) {
        const asked = sampleRequest(name, sceneOf(laptop, phone));
        expectProblem(await request(site.edge, asked), 'unauthenticated');
      }
    });

    test.each(routesWhere(isPublic))('%s is served without a session, as a replica would', async (name) => {
      const asked = sampleRequest(name, sceneOf(laptop, phone));
      const [through, direct] = [await request(site.edge, asked), await request(site.replicas[0], asked)];
      expect([through.status, through.headers['content-type']]).toEqual([
        direct.status,
        direct.headers['content-type'],
      ]);
    });

    test.each(routesWhere(({ scope }) => scope !== 'any'))('a guest may not %s', async (name) => {
      const guest = await site.signIn({ subject: laptop.subject, scope: 'guest' });
      // If a route is open to guests for their own device, the sample names another device.
      const asked = sampleRequest(name, sceneOf(laptop, phone));
      expectProblem(await request(site.edge, { ...asked, headers: guest.bearer }), 'guest_forbidden');
      const forged = { ...guest.bearer, 'X-Auth-Scope': 'full', Connection: 'X-Auth-Scope' };
      expectProblem(await request(site.edge, { ...asked, headers: forged }), 'guest_forbidden');
    });

    test.each(routesWhere(refusesStrangers))('a replica that is asked directly believes nothing: %s', async (name) => {
      const headers = {
        'X-Auth-Subject': laptop.subject,
        'X-Auth-Scope': 'full',
        'X-Auth-Meta': laptop.id,
        ...laptop.bearer,
      };
      for (const replica of site.replicas) {
        const asked = sampleRequest(name, sceneOf(laptop, phone));
        expectProblem(await request(replica, { ...asked, headers }), 'untrusted_edge');
      }
    });

    test.each<[string, Record<string, string>]>([
      ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
      ['a sibling', { 'Sec-Fetch-Site': 'same-site' }],
      ['a sandboxed frame', { Origin: 'null' }],
      ['a host that begins alike', { Origin: 'http://127.0.0.1.evil.example' }],
      ['another port', { Origin: 'http://127.0.0.1:1' }],
      ['a form without either header', {}],
    ])('%s cannot use the cookie to write', async (_, headers) => {
      for (const name of routesWhere(({ sameOrigin, method }) => sameOrigin && method !== 'GET')) {
        const asked = sampleRequest(name, sceneOf(laptop, phone));
        expectProblem(await request(site.edge, { ...asked, headers: { ...laptop.cookie, ...headers } }), 'cross_site');
      }
    });

    test('our own page can', async () => {
      const headers = { ...laptop.cookie, ...origin(), 'Sec-Fetch-Site': 'same-origin' };
      expect((await request(site.edge, { method: 'DELETE', path: '/api/clipboard', headers })).status).toBe(204);
    });

    test('a revoked session is refused with the next request', async () => {
      const lost = await site.signIn({ subject: laptop.subject });
      expect((await request(site.edge, { path: '/api/me', headers: lost.bearer })).status).toBe(200);
      const { tryRevoke } = serviceOf(site.broker);
      await tryRevoke({ subject: lost.subject, session_id: lost.sessionId, reason: 'revoked' });
      for (const headers of [lost.bearer, lost.cookie])
        expect((await request(site.edge, { path: '/api/me', headers })).status).toBe(401);
    });

    test('a login through the public host gives a session of that host', async () => {
      const body = Buffer.from(`user=ann&return_to=${encodeURIComponent(`${site.edge.url}/x`)}`);
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...origin() };
      const answer = await request(site.edge, { method: 'POST', path: '/login/dev', headers, body });
      expect([answer.status, answer.headers.location]).toEqual([303, `${site.edge.url}/x`]);
      const [cookie = ''] = answer.headers['set-cookie'] ?? [];
      const me = await request(site.edge, { path: '/api/me', headers: { Cookie: cookie.split(';')[0] ?? '' } });
      expect(me.body).toMatchObject({ user_id: 'ann', device: null });
    });

    test('from a login to two devices, of which one revokes the other', async () => {
      const form = { 'Content-Type': 'application/x-www-form-urlencoded', ...origin() };
      const cookieOf = ({ headers }: WireAnswer) => ({ Cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '' });
      const become = async (device_id: string) => {
        const body = Buffer.from('user=eve-of-the-edge');
        const login = await request(site.edge, { method: 'POST', path: '/login/dev', headers: form, body });
        const answer = await request(site.edge, {
          method: 'POST',
          path: '/api/auth/device-session',
          headers: { ...cookieOf(login), ...origin() },
          body: { device_id, device_name: device_id, device_type: 'browser' },
        });
        expect(answer.status).toBe(200);
        return cookieOf(answer);
      };
      const [one, two] = [await become('device-one'), await become('device-two')];
      const stream = await openRawStream(site.edge, two);
      await stream.until(/event: ready\n/);
      const path = '/api/auth/sessions/device-two';
      const revoked = await request(site.edge, { method: 'DELETE', path, headers: { ...one, ...origin() } });
      expect(revoked.status).toBe(204);
      expect(await stream.ended()).toContain('event: session:revoked');
      expect((await request(site.edge, { path: '/api/me', headers: two })).status).toBe(401);
      const refreshed = { method: 'POST', path: '/api/auth/refresh', headers: { ...two, ...origin() } };
      expectProblem(await request(site.edge, refreshed), 'session_revoked');
      expect((await request(site.edge, { ...refreshed, headers: { ...one, ...origin() } })).status).toBe(200);
    });

    test.each(['/link', '/join'])('%s is the page of the app for everybody, and carries no identity', async (path) => {
      for (const headers of [{}, phone.cookie]) {
        const { status, text } = await request(site.edge, { path: `${path}?r=a&c=b&i=c`, headers });
        expect(status).toBe(200);
        expect(text).toContain('<div id="app">');
      }
    });

    test('the page without script sends people without a session to the login, and back to it', async () => {
      const path = `/link/plain?r=${'A'.repeat(22)}&c=${'A'.repeat(22)}`;
      const answer = await request(site.edge, { path, headers: { 'X-Auth-Subject': 'admin', 'X-Auth-Scope': 'full' } });
      expect([answer.status, answer.headers.location]).toEqual([
        302,
        `/api/auth/login?${new URLSearchParams({ return_to: path })}`,
      ]);
      const sent = await request(site.edge, {
        ...{ method: 'POST', path: '/link', form: { request_id: 'A', approval_code: 'A', decision: 'deny' } },
        headers: { ...origin(), Accept: 'text/html,*/*;q=0.8' },
      });
      expect([sent.status, sent.headers.location]).toEqual([303, '/api/auth/login?return_to=%2Flink']);
      const signedIn = await request(site.edge, { path, headers: phone.cookie });
      expect(signedIn.headers['content-type']).toMatch(/^text\/html/);
    });

    test('with the broker away calls say so and streams are asked to come back', async () => {
      await site.broker.stop();
      try {
        expectProblem(await request(site.edge, { path: '/api/me', headers: laptop.bearer }), 'broker_unavailable');
        const stream = await openRawStream(site.edge, phone.cookie);
        expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
        expect(await stream.ended()).toMatch(RECONNECT);
        expect((await request(site.edge, { path: '/healthz' })).status).toBe(200);
        expect((await request(site.edge, { path: '/link?r=a&c=b' })).status).toBe(200);
      } finally {
        await site.restartBroker();
      }
      expect((await request(site.edge, { path: '/api/me', headers: laptop.bearer })).status).toBe(200);
    });

    test('no code, cookie or token is in a log of the edge, whatever goes wrong', async () => {
      const dead = await startEdge(kind, { replicas: ['http://127.0.0.1:1'], broker: site.broker.url });
      const secret = 'c0de-that-nobody-may-read';
      const paths = [
        `/link?r=abc&c=${secret}`,
        `/link/plain?r=abc&c=${secret}`,
        `/join?i=${secret}`,
        `/api/auth/qr/request?request_id=abc&approval_code=${secret}`,
        `/api/auth/qr/status?request_id=${secret}`,
        `/api/auth/login?return_to=/link%3Fc=${secret}`,
        `/login?return_to=/link%3Fc=${secret}`,
        `/login/callback?code=${secret}&state=${secret}`,
      ];
      const watched = { ...phone.cookie, Referer: `https://baton.example/link?c=${secret}`, 'X-Poll-Secret': secret };
      for (const edge of [site.edge, dead]) {
        // Each request to the dead edge takes as long as the edge keeps trying.
        for (const path of paths)
          for (const headers of edge === dead ? [watched] : [{}, phone.bearer, watched])
            await request(edge, { path, headers });
        await request(edge, {
          method: 'POST',
          path: `/link?c=${secret}`,
          headers: phone.bearer,
          body: { approval_code: secret },
        });
      }
      const ours = [secret, phone.credential, phone.bearer.Authorization.slice(7)];
      const logs = [site.edge, dead, site.broker, ...site.replicas].map(({ log }) => log());
      expect(dead.log()).toContain('/link');
      expect(site.edge.log()).toContain('/api/auth/qr/status');
      for (const log of logs) for (const word of ours) expect(log.includes(word)).toBe(false);
      await dead.stop();
    });

    // Each test has an edge of its own, in front of a server of the test.
    describe('bodies', () => {
      const answerTo = async (sent: ClientRequest): Promise<IncomingMessage> =>
        (await once(sent, 'response'))[0] as IncomingMessage;

      test.each([
        ['PATCH', '/api/relay/01920000-0000-7000-8000-000000000001/0/1'],
        ['POST', '/api/message'],
      ])('the body of %s %s passes piece by piece', async (method, path) => {
        const mirror = await startMirror();
        const pieces = makeInbox<string>((piece) => piece);
        mirror.serveWith((req, res) => {
          req.on('data', (chunk: Buffer) => pieces.push(chunk.toString()));
          req.on('end', () => res.writeHead(204).end());
        });
        const edge = await startEdge(kind, { replicas: [mirror.url], broker: site.broker.url });
        const sent = open(`${edge.url}${path}`, { method, headers: laptop.bearer, agent: false });
        sent.write('first');
        // The first piece is there before the second was sent, so nobody waited for the whole.
        expect(await pieces.next()).toBe('first');
        sent.end('second');
        expect(await pieces.next()).toBe('second');
        await answerTo(sent);
        await edge.stop();
        await mirror.stop();
      });

      test.each(['/api/relay/01920000-0000-7000-8000-000000000001/0/1', '/api/hub/events', '/api/me', '/'])(
        'the answer of %s passes piece by piece',
        async (path) => {
          const mirror = await startMirror();
          const answers = makeInbox<ServerResponse>(() => 'an answer');
          mirror.serveWith((_req, res) => {
            res.writeHead(200, { 'Content-Type': 'application/octet-stream' }).write('first');
            answers.push(res);
          });
          const edge = await startEdge(kind, { replicas: [mirror.url], broker: site.broker.url });
          const sent = open(`${edge.url}${path}`, { headers: laptop.bearer, agent: false }).end();
          const answer = await answerTo(sent);
          expect(String((await once(answer, 'data'))[0])).toBe('first');
          (await answers.next()).end('second');
          expect(String((await once(answer, 'data'))[0])).toBe('second');
          await edge.stop();
          await mirror.stop();
        },
      );

      test('a body of any size passes', async () => {
        const mirror = await startMirror();
        let bytes = 0;
        mirror.serveWith((req, res) => {
          req.on('data', (chunk: Buffer) => void (bytes += chunk.length));
          req.on('end', () => res.writeHead(204).end());
        });
        const edge = await startEdge(kind, { replicas: [mirror.url], broker: site.broker.url });
        const body = Buffer.alloc(24 * 1024 * 1024);
        const path = '/api/relay/01920000-0000-7000-8000-000000000001/0/1';
        expect((await request(edge, { method: 'PATCH', path, headers: laptop.bearer, body })).status).toBe(204);
        expect(bytes).toBe(body.length);
        await edge.stop();
        await mirror.stop();
      });
    });

    // This test comes last, because it leaves nothing behind the edge.
    test('a replica that is gone is not noticed; with both gone streams are asked to come back', async () => {
      const ask = () => request(site.edge, { path: '/api/me', headers: laptop.bearer });
      await site.replicas[0].kill();
      for (let i = 0; i < 6; i++) expect((await ask()).status).toBe(200);
      await site.replicas[1].kill();
      const answer = await ask();
      expect([answer.status, answer.headers['content-type']]).toEqual([503, 'application/problem+json']);
      const stream = await openRawStream(site.edge, laptop.cookie);
      expect([stream.status, await stream.ended()]).toEqual([200, expect.stringMatching(RECONNECT)]);
    });
  });
}

skipUnless(isInstalled('nginx'), 'needs nginx').describe('with assertions in place of a secret', () => {
  test('the same edge serves replicas with APP_EDGE_TRUST=jwt, and the secret opens nothing', async () => {
    const site = await startEdgeSite('nginx', ({ broker, publicUrl }) => ({
      APP_EDGE_TRUST: 'jwt',
      APP_EDGE_JWKS_URL: `${broker}/.well-known/jwks.json`,
      APP_EDGE_ISSUER: publicUrl,
      APP_EDGE_AUDIENCE: 'baton',
    }));
    const device = await site.signIn({ name: 'Laptop' });
    for (const headers of [device.bearer, device.cookie]) {
      expect((await request(site.edge, { path: '/api/me', headers })).body).toMatchObject({
        user_id: device.subject,
        device: { device_id: device.id, name: 'Laptop' },
      });
    }
    const headers = { 'X-Edge-Secret': EDGE_SECRET, 'X-Auth-Subject': device.subject, 'X-Auth-Scope': 'full' };
    expectProblem(await request(site.replicas[0], { path: '/api/me', headers }), 'untrusted_edge');
    await site.stop();
  });
});
