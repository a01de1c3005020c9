import { skipUnless } from '../support/runner/skips.ts';
import { request } from '../support/wire.ts';
import { type EdgeKind, isInstalled } from './edges.ts';
import { type EdgeDevice, type EdgeSite, startEdgeSite } from './edge-site.ts';

/* A program of another origin behind the shipped edges, which ask the broker before a replica learns of the request. */

const KINDS: EdgeKind[] = ['nginx', 'caddy'];
const LISTED = 'https://notes.example';

for (const kind of KINDS) {
  skipUnless(isInstalled(kind), `needs ${kind}`).describe(`behind ${kind}`, () => {
    let site: EdgeSite;
    let laptop: EdgeDevice;
    beforeAll(async () => {
      site = await startEdgeSite(kind, { APP_CORS_ORIGINS: LISTED });
      laptop = await site.signIn();
    });
    afterAll(() => site.stop());

    test('the question of a browser, which shows nobody, gets through to a replica', async () => {
      for (const [path, method] of [
        ['/api/devices', 'GET'],
        ['/api/message', 'POST'],
        ['/api/hub/events', 'GET'],
        ['/api/auth/refresh', 'POST'],
        ['/api/relay/00000000-0000-4000-8000-000000000000/0/1', 'GET'],
      ] as const) {
        const asked = { Origin: LISTED, 'Access-Control-Request-Method': method };
        const { status, headers } = await request(site.edge, { method: 'OPTIONS', path, headers: asked });
        expect([path, status, headers['access-control-allow-origin']]).toEqual([path, 204, LISTED]);
        const foreign = { ...asked, Origin: 'https://evil.example' };
        const refused = await request(site.edge, { method: 'OPTIONS', path, headers: foreign });
        expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([405, undefined]);
      }
    });

    test('a bearer token reads and writes, and a cookie does neither', async () => {
      const write = (headers: Record<string, string>) =>
        request(site.edge, {
          ...{ method: 'PUT', path: '/api/clipboard', body: { content: 'x', content_type: 'text/plain' } },
          headers: { Origin: LISTED, 'Sec-Fetch-Site': 'cross-site', ...headers },
        });
      const written = await write(laptop.bearer);
      expect([written.status, written.headers['access-control-allow-origin']]).toEqual([200, LISTED]);
      const byCookie = await write({ ...laptop.cookie });
      expect([byCookie.status, byCookie.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    });
  });
}
