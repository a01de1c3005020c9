import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type BrokerProcess, startBroker, stopBrokers } from '../broker/support/brokers.ts';
import { mintOf, serviceOf } from '../broker/support/service.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { request } from '../support/wire.ts';
import { type Edge, type EdgeKind, isInstalled, startEdge, stopEdges } from './edges.ts';
import { type Mirror, type Reflection, startMirror } from './mirror.ts';

/*
 * An edge passes on the path that it matched: no spelling of a path means one thing to the edge and another to the broker or a
 * replica behind it. The edges run from deploy/edge, the broker is real, and a mirror stands in the replica's place.
 */

const DOCTOR = fileURLToPath(new URL('../../deploy/edge/doctor.mjs', import.meta.url));

let broker: BrokerProcess;
let mirror: Mirror;
let credential: string;
beforeAll(async () => {
  [broker, mirror] = await Promise.all([startBroker({ env: { BROKER_DEV_LOGIN: '1' } }), startMirror()]);
  credential = (await serviceOf(broker).mint(mintOf())).cookie.value;
});
afterAll(async () => {
  await stopEdges();
  await stopBrokers();
  await mirror.stop();
});

/** A reader that decodes and tidies sees `/login/...`. The broker must see forward-auth. */
const AS_LOGIN = [
  '/forward-auth/..%2flogin/x',
  '/forward-auth/..%2Flogin%2fdev',
  '/forward-auth/%2e%2e/login/x',
  '/forward-auth/.%2E/login/callback',
  '/forward-auth/../login/x',
  '/forward-auth//..//login/x',
  '/forward-auth/./../login',
  '/x/..%2f/forward-auth/../login/',
];
/** Each lies within `/login/` as it is written. */
const FROM_LOGIN = [
  '/login/..%2fforward-auth',
  '/login/%2e%2e%2fforward-auth',
  '/login/../forward-auth',
  '/login/..%2f.well-known%2fjwks.json',
  '/login/..%2fv1/sessions?subject=x',
  '/login/..%5cforward-auth',
  '/login/%252e%252e%252fforward-auth',
];
/** One reader sees a public path, another a path that needs a caller. */
const MIXED = [
  '/api/me/..%2fdocs',
  '/api/docs/..%2fme',
  '/x/..%2fapi/me',
  '/assets/%2e%2e/api/me',
  '//api//me',
  '/api/devices/..%2f..%2fhealthz',
];

/** Replicas read a path to the letter. */
const isTidy = (path: string): boolean => !/\/\/|%2e|%2f|%5c|\/\.\.?(\/|$)/i.test(path);

for (const kind of ['nginx', 'caddy'] satisfies EdgeKind[]) {
  skipUnless(isInstalled(kind), `needs ${kind}`).describe(`behind ${kind}`, () => {
    let edge: Edge;
    beforeAll(async () => {
      edge = await startEdge(kind, { replicas: [mirror.url], broker: broker.url });
    });
    const ask = (path: string, headers: Record<string, string> = { Cookie: `baton=${credential}` }) =>
      request(edge, { path, headers });

    test.each([...AS_LOGIN, ...FROM_LOGIN])('%s does not reach what the broker keeps to itself', async (path) => {
      for (const headers of [undefined, {}]) {
        const answer = await ask(path, headers);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('x-auth-'))).toEqual([]);
        const { url } = (answer.body ?? {}) as Partial<Reflection>;
        // Either a replica got it under the name that it has there. Or it was refused, is unknown to the broker, or led to the
        // login page.
        if (url !== undefined) expect(isTidy(url)).toBe(true);
        else expect([200, 400, 404]).toContain(answer.status);
        expect(answer.text).not.toContain('"keys"');
      }
    });

    test.each(MIXED)('%s is to the replica what it was to the edge', async (path) => {
      const answer = await ask(path);
      if (answer.status !== 200) return expect(answer.status).toBe(400);
      const { url, headers } = answer.body as Reflection;
      expect(isTidy(url)).toBe(true);
      const isKnown = headers.some(([name]) => name === 'x-auth-subject');
      expect({ url, isKnown }).toEqual({ url, isKnown: url === '/api/me' });
    });

    test.each([
      '/api/me?return_to=%2Fa%2F..%2Fb&c=%2e',
      '/assets/a%20b%C3%A9.js?x=//',
      '/link?r=a&c=b/../c',
      '/a.b/c..d',
    ])('an ordinary path is passed on as it came, its query to the letter: %s', async (path) => {
      expect((await ask(path)).body).toMatchObject({ url: path });
    });

    test('the login of the broker is still there, with its query', async () => {
      expect((await ask('/login?return_to=%2Fa', {})).text).toMatch(/name="return_to" value="[^"]*\/a"/);
      expect((await ask('/login/none', {})).status).toBe(404);
    });

    const right = kind === 'nginx' ? /rewrite \^ \$uri break;/ : /\t\thandle @crooked \{[\s\S]*?\n\t\t\}\n/;
    test('the doctor finds an edge that passes on what came', async () => {
      mirror.serveWith((_req, res) => res.writeHead(404).end());
      const spoilt = await startEdge(kind, {
        ...{ replicas: [mirror.url], broker: broker.url },
        spoil: (_, text) => text.replace(right, ''),
      });
      for (const [target, expected] of [
        [edge, 'ok    no other spelling'],
        [spoilt, 'FAIL  no other spelling'],
      ] as const) {
        const child = spawn(process.execPath, [DOCTOR, '--quick', target.url], { stdio: ['ignore', 'pipe', 'ignore'] });
        let said = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => void (said += text));
        await once(child, 'close');
        expect(said).toContain(expected);
      }
      await spoilt.stop();
      mirror.reflect();
    });
  });
}
