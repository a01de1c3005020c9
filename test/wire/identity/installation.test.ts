import { makeDevice, randomUser } from '../../support/device.ts';
import { type Site, startSite } from '../../support/site.ts';
import { request } from '../../support/wire.ts';

/* What `GET /api/me` says about the installation, so that a session stays with it. */

let site: Site;
beforeAll(async () => {
  site = await startSite({
    APP_PUBLIC_URL: 'https://baton.example',
    APP_PUBLIC_ORIGINS: 'https://baton.lan:8443,https://baton.example',
    APP_SERVICE_ID: 'home',
  });
});
afterAll(() => site.stop());

const me = async (replica: { url: string }) => {
  const device = makeDevice({ user: randomUser(), name: 'Laptop' });
  return (await device.on(replica).call('getMe')).body;
};

test('each replica says the name of the installation and all of its origins, the public one first', async () => {
  const origins = ['https://baton.example', 'https://baton.lan:8443'];
  expect(await me(site.one)).toMatchObject({ service: 'home', origins });
  expect(await me(site.two)).toMatchObject({ service: 'home', origins });
});

test('a further origin is no same origin: what a page of it would change is refused', async () => {
  const headers = { 'X-Dev-User': randomUser(), 'X-Dev-Device': 'laptop-0001', 'X-Dev-Name': 'Laptop' };
  const put = (origin: string) =>
    request(site.one, {
      method: 'PUT',
      path: '/api/clipboard',
      headers: { ...headers, Origin: origin },
      body: { content: 'x', content_type: 'text/plain' },
    });
  expect((await put('https://baton.lan:8443')).body).toMatchObject({ code: 'cross_site' });
  expect((await put('https://baton.example')).status).toBe(200);
});
