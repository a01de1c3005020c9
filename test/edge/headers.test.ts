import { Agent, request as send } from 'node:http';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, startBroker, stopBrokers } from '../broker/support/brokers.ts';
import { mintOf, type Service, serviceOf } from '../broker/support/service.ts';
import { isPublic, ROUTE_NAMES, routeOf, sampleRequest } from '../support/samples.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { expectProblem, request, type WireRequest } from '../support/wire.ts';
import { type Edge, EDGE_SECRET, type EdgeKind, isInstalled, startEdge, stopEdges } from './edges.ts';
import { identityIn, type Mirror, type Reflection, startMirror } from './mirror.ts';

/*
 * These tests show what a replica behind the edge sees. The edges run from deploy/edge, and the broker is real. A
 * mirror stands in the replica's place and answers with the request as it arrived.
 */

const KINDS: EdgeKind[] = ['nginx', 'caddy'];

let broker: BrokerProcess;
let service: Service;
let mirror: Mirror;
const subject = 'zoë'.replace('ë', '%C3%AB');
const cookies: Record<'full' | 'guest', string> = { full: '', guest: '' };
let token: string;

beforeAll(async () => {
  [broker, mirror] = await Promise.all([startBroker({ env: { BROKER_DEV_LOGIN: '1' } }), startMirror()]);
  service = serviceOf(broker);
  const full = await service.mint(mintOf({ subject, meta: 'device-full' }));
  const guest = await service.mint(mintOf({ subject, meta: 'device-guest', scope: 'guest' }));
  [cookies.full, cookies.guest, token] = [full.cookie.value, guest.cookie.value, full.access_token];
});
afterAll(async () => {
  await stopEdges();
  await stopBrokers();
  await mirror.stop();
});

/** Every header that somebody who wants to be the administrator could think of. */
const FORGED: Record<string, string | string[]> = {
  'X-Auth-Subject': 'admin',
  'x-auth-scope': ['full', 'full'],
  'X-AUTH-META': 'device-of-admin',
  'X-Auth-Name': 'Admin',
  'X-Auth-Roles': 'admin',
  'X-Auth-Assertion': 'x.y.z',
  X_Auth_Subject: 'admin',
  'X-Auth_Scope': 'full',
  X_AUTH_ROLES: 'admin',
  'X-Edge-Secret': EDGE_SECRET,
  X_Edge_Secret: EDGE_SECRET,
  'X-Dev-User': 'admin',
  'X-Dev-Scope': 'full',
  X_Dev_User: 'admin',
  Forwarded: 'for=10.0.0.1',
};

const identityOf = (scope: 'full' | 'guest', meta: string) => ({
  'x-auth-subject': [subject],
  'x-auth-scope': [scope],
  'x-auth-meta': [meta],
  'x-auth-name': [encodeURIComponent(subject)],
  'x-auth-assertion': [expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)],
  'x-edge-secret': [EDGE_SECRET],
});

const scene = { own: { id: 'device-full', name: 'Own' }, other: { id: 'device-other', name: 'Other' } };

for (const kind of KINDS) {
  skipUnless(isInstalled(kind), `needs ${kind}`).describe(`behind ${kind}`, () => {
    let edge: Edge;
    beforeAll(async () => {
      edge = await startEdge(kind, { port: await freePort(), replicas: [mirror.url], broker: broker.url });
    });

    const seen = async (asked: WireRequest): Promise<Reflection> => {
      const answer = await request(edge, asked);
      expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
      return (asked.method === 'HEAD' ? mirror.last() : answer.body) as Reflection;
    };
    const me = (headers: Record<string, string | string[]>) => seen({ path: '/api/me', headers });
    const withCookie = (scope: 'full' | 'guest') => ({ Cookie: `baton=${cookies[scope]}` });

    test('the cookie and the access token become the identity', async () => {
      expect(identityIn(await me(withCookie('full')))).toEqual(identityOf('full', 'device-full'));
      expect(identityIn(await me({ Authorization: `Bearer ${token}` }))).toEqual(identityOf('full', 'device-full'));
      expect(identityIn(await me(withCookie('guest')))).toEqual(identityOf('guest', 'device-guest'));
    });

    test.each(ROUTE_NAMES)('on %s whatever a client forges is replaced, or gone', async (name) => {
      const asked = sampleRequest(name, scene);
      const headers = { ...FORGED, ...withCookie('guest') };
      const { method, url, ...reflection } = await seen({ ...asked, headers });
      expect([method, url]).toEqual([asked.method, asked.path]);
      const expected = isPublic(routeOf(name)) ? {} : identityOf('guest', 'device-guest');
      expect(identityIn({ method, url, ...reflection })).toEqual(expected);
    });

    test.each(ROUTE_NAMES)('on %s somebody without session has nothing of an identity', async (name) => {
      expect(identityIn(await seen({ ...sampleRequest(name, scene), headers: FORGED }))).toEqual({});
    });

    test.each(['/', '/assets/app.js', '/link?r=a&c=b', '/api/', '/api/no/such/path', '/api/auth/logout', '/healthz/x'])(
      'on %s a forged identity does not pass either',
      async (path) => {
        expect(identityIn(await seen({ path, headers: FORGED }))).toEqual({});
        const signedIn = identityIn(await seen({ path, headers: { ...FORGED, ...withCookie('guest') } }));
        expect([{}, identityOf('guest', 'device-guest')]).toContainEqual(signedIn);
      },
    );

    test.each([
      'X-Auth-Scope',
      'x-auth-scope, x-auth-meta',
      'close, X-Auth-Subject',
      'X-Edge-Secret',
      'keep-alive, X_Auth_Scope',
    ])('Connection: %s takes no header away', async (connection) => {
      const headers = { ...withCookie('guest'), Connection: connection, 'X-Auth-Scope': 'full' };
      expect(identityIn(await me(headers))).toEqual(identityOf('guest', 'device-guest'));
    });

    test('who has an identity in one request has none in the next on the same connection', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = (headers: Record<string, string>) =>
        new Promise<Reflection>((resolve, reject) => {
          send(`${edge.url}/api/me`, { agent, headers }, (res) => {
            let text = '';
            res.on('data', (chunk: Buffer) => void (text += chunk.toString()));
            res.on('end', () => resolve(JSON.parse(text) as Reflection));
          })
            .on('error', reject)
            .end();
        });
      for (let i = 0; i < 5; i++) {
        expect(identityIn(await ask(withCookie('full')))).toEqual(identityOf('full', 'device-full'));
        expect(identityIn(await ask({}))).toEqual({});
      }
      agent.destroy();
    });

    test('two credentials in one request are nobody', async () => {
      const two = `baton=${cookies.full}; baton=${cookies.guest}`;
      expect(identityIn(await me({ Cookie: two }))).toEqual({});
    });

    test.each([
      '/api/auth/login/../../me',
      '/api/auth/login/%2e%2e/%2e%2e/me',
      '//api/me',
      '/api/./me',
      '/api/docs/../me',
      '/API/me',
    ])('%s is no way around', async (path) => {
      const asked = { path, headers: { ...FORGED, ...withCookie('guest') } };
      const refused = kind === 'caddy' && path !== '/API/me' ? await request(edge, asked) : null;
      if (refused !== null) return void expectProblem(refused, 'invalid_request');
      const { url, ...reflection } = await seen(asked);
      // A replica serves only the one spelling of a path; the identity is the session's, or none.
      expect([{}, identityOf('guest', 'device-guest')]).toContainEqual(identityIn({ url, ...reflection }));
    });

    test('the address of the client is the one that the edge saw', async () => {
      const { headers } = await me({ ...withCookie('full'), 'X-Forwarded-For': '10.9.9.9' });
      const [, hops = ''] = headers.find(([name]) => name === 'x-forwarded-for') ?? [];
      expect(hops.split(',').at(-1)?.trim()).toBe('127.0.0.1');
    });

    test.each(['/v1/sessions', '/forward-auth', '/forward-auth/api/me', '/.well-known/jwks.json', '/_baton_identity'])(
      'the broker is not public at %s',
      async (path) => {
        const answer = await request(edge, { path, headers: withCookie('full') });
        // Either the edge knows no such path, or it passes it on to a replica, which does not know it.
        expect(answer.status === 404 || (answer.body as Reflection).url === path).toBe(true);
      },
    );

    test('the login of the broker is, and sees no identity either', async () => {
      const answer = await request(edge, { path: '/login', headers: FORGED });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      const form = Buffer.from('user=ann');
      const headers = { ...FORGED, 'Content-Type': 'application/x-www-form-urlencoded' };
      const signedIn = await request(edge, { method: 'POST', path: '/login/dev', headers, body: form });
      expect([signedIn.status, signedIn.headers['set-cookie']]).toEqual([303, [expect.stringMatching(/^baton=v1\./)]]);
    });
  });
}
