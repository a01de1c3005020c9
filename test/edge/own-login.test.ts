import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUser } from '../support/device.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { expectProblem, request } from '../support/wire.ts';
import { type EdgeSite, startEdgeSite } from './edge-site.ts';
import { isInstalled, startOwnLogin } from './edges.ts';

/* An installation whose people log in at a forward-auth of their own: deploy/identity.md, with the shipped sample. */

const PORTAL = 'https://auth.example/';

/**
 * Starts a typical forward-auth: it knows a cookie of its own, answers who that is, and sends all others to its portal.
 */
async function startForwardAuth(): Promise<{ server: Server; url: string }> {
  const server = createServer(({ headers, url }, res) => {
    const [, user] = /\bportal=([^;]+)/.exec(headers.cookie ?? '') ?? [];
    if (url !== '/verify' || user === undefined) return void res.writeHead(302, { Location: PORTAL }).end();
    if (user === 'broken') return void res.writeHead(500).end();
    // Whatever else it says must not count.
    const forged = { 'X-Auth-Meta': 'device-of-somebody', 'X-Auth-Subject': 'admin', 'X-Auth-Scope': 'guest' };
    res.writeHead(200, { ...forged, 'Remote-User': user, 'Remote-Name': 'Anna M%C3%BCller' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const withNginx = skipUnless(isInstalled('nginx'), 'needs nginx');

withNginx.describe('people who log in at a forward-auth of their own', () => {
  let site: EdgeSite;
  let auth: { server: Server; url: string };
  const user = randomUser();
  const portal = { Cookie: `portal=${user}` };

  beforeAll(async () => {
    auth = await startForwardAuth();
    site = await startEdgeSite('nginx', {}, (broker) => startOwnLogin({ broker, auth: auth.url, portal: PORTAL }));
  });
  afterAll(async () => {
    await site.stop();
    auth.server.closeAllConnections();
    auth.server.close();
  });

  const askMe = (headers: Record<string, string>) => request(site.edge, { path: '/api/me', headers });

  test('somebody who is logged in there is somebody here, without a device, whatever else is said', async () => {
    const { body } = await askMe({ ...portal, 'X-Auth-Subject': 'admin', 'Remote-User': 'admin' });
    expect(body).toMatchObject({ user_id: user, name: 'Anna Müller', scope: 'full', device: null });
  });

  test('a device joins from there, and from then on the broker knows it, without the portal too', async () => {
    const joined = await request(site.edge, {
      ...{ method: 'POST', path: '/api/auth/device-session' },
      headers: { ...portal, Origin: site.edge.url },
      body: { device_id: 'laptop-of-anna', device_name: 'Laptop', device_type: 'browser' },
    });
    expect(joined.status).toBe(200);
    const { access_token: token, device } = joined.body as { access_token: string; device: { device_id: string } };
    expect((await askMe({ Authorization: `Bearer ${token}` })).body).toMatchObject({ user_id: user, device });
    const [cookie = ''] = String(joined.headers['set-cookie']).split(';');
    expect((await askMe({ Cookie: `${portal.Cookie}; ${cookie}` })).body).toMatchObject({ user_id: user, device });
    expect((await askMe({ Cookie: cookie })).body).toMatchObject({ user_id: user, device });
  });

  test('nobody is nobody, and the login leads to the portal and back', async () => {
    expectProblem(await askMe({}), 'unauthenticated');
    expectProblem(await askMe({ 'X-Auth-Subject': 'admin', 'Remote-User': 'admin' }), 'unauthenticated');
    const login = await request(site.edge, { path: '/login?return_to=%2Flink%3Fr%3D1' });
    expect([login.status, login.headers.location]).toEqual([302, `${PORTAL}?rd=%2Flink%3Fr%3D1`]);
  });

  test('a portal that fails lets nobody in', async () => {
    expect((await askMe({ Cookie: 'portal=broken' })).status).toBeGreaterThanOrEqual(500);
  });
});
