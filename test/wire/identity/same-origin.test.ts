import { makeDevice, randomUser } from '../../support/device.ts';
import { type LoneApp, startLoneApp } from '../../support/lone-app.ts';
import { expectRight, routesWhere, sampleRequest, senderOf } from '../../support/samples.ts';
import { type Site, startSite } from '../../support/site.ts';
import { picture } from '../../support/redis/stored.ts';
import { expectProblem, request } from '../../support/wire.ts';
import { PUBLIC_URL } from '../../unit/http/public-app.ts';

const user = randomUser();
const own = makeDevice({ user, name: 'Laptop' });
const other = makeDevice({ user, name: 'Phone' });
const scene = { own, other };

let site: Site;
let app: LoneApp;
beforeAll(async () => {
  [site, app] = await Promise.all([startSite({ APP_PUBLIC_URL: PUBLIC_URL }, { alone: true }), startLoneApp()]);
  await Promise.all([own, other].map((device) => device.on(site.one).call('getMe')));
});
afterAll(() => Promise.all([site.stop(), app.stop()]));

const unsafe = routesWhere(({ method, sameOrigin }) => sameOrigin && method !== 'GET' && method !== 'HEAD');
const safe = routesWhere(({ method, sameOrigin }) => method === 'GET' && !sameOrigin);

const FOREIGN: [string, Record<string, string | string[]>][] = [
  ['another origin', { Origin: 'https://evil.example' }],
  ['the same host without TLS', { Origin: 'http://baton.example' }],
  ['the same host on another port', { Origin: 'https://baton.example:8443' }],
  ['a host that begins the same', { Origin: 'https://baton.example.evil.example' }],
  ['no origin at all, as a sandboxed frame sends it', { Origin: 'null' }],
  ['an empty origin', { Origin: '' }],
  ['two origins, one of them right', { Origin: [PUBLIC_URL, 'https://evil.example'] }],
  ['a sibling domain', { 'Sec-Fetch-Site': 'same-site' }],
  ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
  ['another site behind the right origin', { Origin: PUBLIC_URL, 'Sec-Fetch-Site': 'cross-site' }],
  ['a cookie and nothing that says where from', { Cookie: 'baton=v1.x.y' }],
];

const OWN: [string, Record<string, string>][] = [
  ['a page of ours', { Origin: PUBLIC_URL, 'Sec-Fetch-Site': 'same-origin', Cookie: 'baton=v1.x.y' }],
  ['the address bar', { 'Sec-Fetch-Site': 'none', Cookie: 'baton=v1.x.y' }],
  ['an old browser on our page', { Origin: PUBLIC_URL, Cookie: 'baton=v1.x.y' }],
  ['a program without cookies', {}],
];

describe.each(unsafe)('%s', (name) => {
  const sendTo = (target: { url: string }, headers: Record<string, string | string[]>) =>
    request(target, { ...sampleRequest(name, scene), headers: { ...senderOf(name, own).headers, ...headers } });
  const send = (headers: Record<string, string | string[]>) => sendTo(site.one, headers);

  test.each(FOREIGN)('is refused to %s before anybody is asked who they are', async (_, headers) => {
    app.handled();
    app.identified();
    expectProblem(await sendTo(app, headers), 'cross_site');
    expect([app.handled(), app.identified()]).toEqual([[], 0]);
  });

  test('changes nothing on a replica for another origin, nor for a cookie from nowhere', async () => {
    const before = await picture(site.redis, site.prefix);
    expectProblem(await send({ Origin: 'https://evil.example' }), 'cross_site');
    expectProblem(await send({ Cookie: 'baton=v1.x.y' }), 'cross_site');
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });

  test.each(OWN)('is open to %s', async (_, headers) => {
    expectRight(name, await send(headers), scene);
  });
});

test('another site is refused before anybody is asked who they are, and no row is written', async () => {
  const stranger = makeDevice({ user: randomUser() });
  const before = await picture(site.redis, site.prefix);
  const headers = { ...stranger.headers, Origin: 'https://evil.example' };
  expectProblem(await request(site.one, { method: 'DELETE', path: '/api/clipboard', headers }), 'cross_site');
  expect(await picture(site.redis, site.prefix, before)).toEqual(before);
});

test.each(safe)('%s can be followed to from another site', async (name) => {
  const headers = { ...own.headers, 'Sec-Fetch-Site': 'cross-site', Cookie: 'baton=v1.x.y' };
  expectRight(name, await request(site.one, { ...sampleRequest(name, scene), headers }), scene);
});

describe('a stream', () => {
  const cookie = { Cookie: 'baton=v1.x.y' };
  const open = (headers: Record<string, string | string[]>, device = own) =>
    request(site.one, { ...sampleRequest('openStream', scene), headers: { ...device.headers, ...headers } });

  test.each<[string, Record<string, string | string[]>]>([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a sibling domain', { 'Sec-Fetch-Site': 'same-site' }],
    ['another site, which says its origin', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    ['a sibling domain, which says its origin', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://evil.example' }],
    ['a frame without an origin', { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }],
    ['an old browser on another site', { Origin: 'https://evil.example' }],
    ['a word that nobody knows', { 'Sec-Fetch-Site': 'elsewhere' }],
    ['two words', { 'Sec-Fetch-Site': ['same-origin', 'cross-site'] }],
  ])('is refused to %s with a cookie, and nobody is online by it', async (_, headers) => {
    const stranger = makeDevice({ user: randomUser() });
    const before = await picture(site.redis, site.prefix);
    expectProblem(await open({ ...cookie, ...headers }, stranger), 'cross_site');
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });

  test.each<[string, Record<string, string>]>([
    ['a page of ours', { ...cookie, 'Sec-Fetch-Site': 'same-origin' }],
    ['a page of ours, which says its origin', { ...cookie, 'Sec-Fetch-Site': 'same-origin', Origin: PUBLIC_URL }],
    ['our origin', { ...cookie, 'Sec-Fetch-Site': 'cross-site', Origin: PUBLIC_URL }],
    ['a program with a cookie', cookie],
    ['another site without a cookie', { 'Sec-Fetch-Site': 'cross-site' }],
  ])('is open to %s', async (_, headers) => {
    expectRight('openStream', await open(headers), scene);
  });
});
