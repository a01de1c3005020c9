import { randomBytes } from 'node:crypto';
import { makeDevice, randomUser } from '../../support/device.ts';
import {
  expectRight,
  isPublic,
  isStream,
  routesWhere,
  sampleRequest,
  refusesStrangers,
} from '../../support/samples.ts';
import { type Site, startSite } from '../../support/site.ts';
import { picture } from '../../support/redis/stored.ts';
import { expectProblem, request, sendBytes, utf8Header } from '../../support/wire.ts';

/* Identity mode `dev` (CONTRACT.md, "Identity"). */

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

const randomId = (): string => randomBytes(9).toString('base64url');
const own = makeDevice({ user: randomUser(), name: 'Laptop' });
const scene = { own, other: own };

interface Me {
  user_id: string;
  name: string;
  scope: string;
  roles: string[];
  device: { device_id: string; name: string; type: string } | null;
}

const askMe = (headers: Record<string, string | string[]>) => request(site.one, { path: '/api/me', headers });
const me = async (headers: Record<string, string>): Promise<Me> => (await askMe(headers)).body as Me;

const forCallers = routesWhere(refusesStrangers);
const forAll = routesWhere(isPublic);

describe('without an identity', () => {
  test.each(forCallers)('%s is refused', async (name) => {
    expectProblem(await request(site.one, sampleRequest(name, scene)), 'unauthenticated');
  });

  test.each(forAll)('%s is served', async (name) => {
    expectRight(name, await request(site.one, sampleRequest(name, scene)), scene);
  });
});

test.each(forAll.filter((name) => name !== 'startLogin'))(
  '%s sees no identity header, however wrong, and writes nothing',
  async (name) => {
    const before = await picture(site.redis, site.prefix);
    const headers = { 'X-Dev-User': ['a', 'b'], 'X-Dev-Device': 'no', 'X-Dev-Scope': 'king', X_Dev_User: 'c' };
    expectRight(name, await request(site.one, { ...sampleRequest(name, scene), headers }), scene);
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  },
);

describe('the user', () => {
  test.each([
    'a',
    'x'.repeat(128),
    'user@example.org',
    'with space',
    '{braces}',
    'a:b',
    '%7B',
    '../..',
    '用户',
    '😀'.repeat(128),
    '*',
    '__proto__',
  ])('may be any text: %s', async (user) => {
    expect(await me({ 'X-Dev-User': utf8Header(user) })).toMatchObject({
      user_id: user,
      name: user,
      device: null,
      roles: [],
    });
  });

  test.each([
    ['empty', ''],
    ['of 129 characters', 'x'.repeat(129)],
    ['of 129 emoji', '😀'.repeat(129)],
    ['with a line separator of C1', '\u0085x'],
  ])('may not be %s', async (_, user) => {
    expectProblem(await askMe({ 'X-Dev-User': utf8Header(user) }), 'unauthenticated');
  });

  test('may not be bytes that are no text', async () => {
    expectProblem(await askMe({ 'X-Dev-User': 'M\xfcller' }), 'invalid_request');
  });

  test.each([
    ['a{b', 'a%7Bb'],
    ['a', 'a:devices'],
    ['x', 'X'],
    ['caf\u00e9', 'cafe\u0301'],
    ['user', 'user\u00a0'],
  ])('%j shares nothing with %j', async (first, second) => {
    const salt = randomId();
    const [one, two] = [{ 'X-Dev-User': utf8Header(first + salt) }, { 'X-Dev-User': utf8Header(second + salt) }];
    const body = { content: 'only mine', content_type: 'text/plain' };
    await request(site.one, { method: 'PUT', path: '/api/clipboard', headers: one, body });
    const seen = await request(site.two, { path: '/api/clipboard', headers: two });
    expect(seen.body).toMatchObject({ content: '' });
  });
});

describe('the device', () => {
  test.each(['short', 'x'.repeat(65), 'with space', 'dots.dots', '{brace}', 'ünïcode-id'])(
    'is refused when its id is "%s"',
    async (id) => {
      const { errors } = expectProblem(
        await askMe({ 'X-Dev-User': randomUser(), 'X-Dev-Device': utf8Header(id) }),
        'invalid_request',
      );
      expect(errors?.map(({ path }) => path)).toEqual(['/header/X-Dev-Device']);
    },
  );

  test.each(['x'.repeat(8), 'x'.repeat(64), '__proto__', 'constructor', '--------'])(
    'may have the id %s',
    async (id) => {
      const user = randomUser();
      expect((await me({ 'X-Dev-User': user, 'X-Dev-Device': id, 'X-Dev-Name': 'Odd' })).device).toEqual({
        device_id: id,
        name: 'Odd',
        type: 'browser',
      });
    },
  );

  test('is not needed, and an empty one is none', async () => {
    expect((await me({ 'X-Dev-User': randomUser(), 'X-Dev-Device': '' })).device).toBeNull();
  });

  test('is named after its id, cut to 32 characters, when no name is given', async () => {
    const id = 'n'.repeat(40);
    expect((await me({ 'X-Dev-User': randomUser(), 'X-Dev-Device': id })).device?.name).toBe('n'.repeat(32));
  });

  test.each(['*', 'x'.repeat(33), 'Zoë', '手机', 'tab\there'])('is refused with the name "%s"', async (name) => {
    const headers = { 'X-Dev-User': randomUser(), 'X-Dev-Device': randomId(), 'X-Dev-Name': utf8Header(name) };
    expectProblem(await askMe(headers), 'invalid_device_name');
  });

  test.each(['phone', 'Browser', 'android'])('is refused with the type "%s"', async (type) => {
    const headers = { 'X-Dev-User': randomUser(), 'X-Dev-Device': randomId(), 'X-Dev-Type': type };
    expectProblem(await askMe(headers), 'invalid_request');
  });

  test('gets its row on first use and keeps that name, whatever later requests on either replica say', async () => {
    const device = makeDevice({ user: randomUser(), name: 'First' });
    await askMe(device.headers);
    const renamed = { ...device.headers, 'X-Dev-Name': 'Second', 'X-Dev-Type': 'ios' };
    const seen = (await request(site.two, { path: '/api/me', headers: renamed })).body as Me;
    expect(seen.device).toEqual({ device_id: device.id, name: 'First', type: 'linux' });
  });

  test('whose row was lost gets it back with its next use', async () => {
    const user = randomUser();
    const device = makeDevice({ user, name: 'Laptop' });
    await device.on(site.one).call('listDevices');
    await site.redis.del(`${site.prefix}:{${user}}:devices`);
    const { status } = await request(site.one, {
      method: 'POST',
      path: '/api/message',
      headers: device.headers,
      body: { to_device_id: device.id, content: 'x' },
    });
    expect(status).toBe(201);
    expect((await device.on(site.two).call('listDevices')).body.devices.map(({ device_id: id }) => id)).toEqual([
      device.id,
    ]);
  });

  test('of the same id in two accounts is two devices', async () => {
    const id = randomId();
    const as = (user: string, name: string) => ({ 'X-Dev-User': user, 'X-Dev-Device': id, 'X-Dev-Name': name });
    const [one, two] = [as(randomUser(), 'Of one'), as(randomUser(), 'Of two')];
    expect((await me(one)).device?.name).toBe('Of one');
    expect((await me(two)).device?.name).toBe('Of two');
    expect((await me(one)).device?.name).toBe('Of one');
  });
});

describe('the scope', () => {
  test('is full when nothing is said', async () => {
    expect((await me({ 'X-Dev-User': randomUser() })).scope).toBe('full');
  });

  test('is guest when that is said', async () => {
    expect((await me({ 'X-Dev-User': randomUser(), 'X-Dev-Scope': 'guest' })).scope).toBe('guest');
  });

  test.each(['', 'Full', 'admin', 'full,guest', 'full guest'])('is never guessed from "%s"', async (scope) => {
    expectProblem(await askMe({ 'X-Dev-User': randomUser(), 'X-Dev-Scope': scope }), 'unauthenticated');
  });
});

describe('an identity header', () => {
  const names = ['X-Dev-User', 'X-Dev-Device', 'X-Dev-Name', 'X-Dev-Type', 'X-Dev-Scope'];
  const good: Record<string, string> = { ...own.headers };

  test.each(names)('%s is refused when it occurs twice, even with one value', async (name) => {
    const value = good[name] as string;
    const { errors } = expectProblem(await askMe({ ...good, [name]: [value, value] }), 'invalid_request');
    expect(errors?.map(({ path }) => path)).toEqual([`/header/${name.toLowerCase()}`]);
  });

  test.each(names)('%s is refused as its underscore twin, alone and beside the real one', async (name) => {
    const twin = name.replaceAll('-', '_');
    const { [name]: value, ...rest } = good;
    for (const headers of [
      { ...good, [twin]: value as string },
      { ...rest, [twin]: value as string },
    ]) {
      expect((await askMe(headers)).status).toBe(400);
    }
  });

  test('with a line end in it never gets past the parser', async () => {
    const answer = await sendBytes(
      site.one,
      'GET /api/me HTTP/1.1\r\nHost: localhost\r\nX-Dev-User: eve\rX-Dev-Scope: full\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('of another mode is ignored, however wrong', async () => {
    const headers = {
      ...good,
      'X-Auth-Subject': ['eve', 'mallory'],
      'X-Auth-Scope': 'guest',
      X_Auth_Meta: 'x',
      'X-Edge-Secret': 'x',
      Authorization: 'Bearer x',
    };
    expect((await askMe(headers)).body).toMatchObject({ user_id: good['X-Dev-User'], scope: 'full' });
  });
});

describe('the query of an EventSource', () => {
  const open = (query: string, headers: Record<string, string> = {}) =>
    request(site.one, { path: `/api/hub/events?${query}`, headers });

  test('names user, device, name and type, as nothing else can there', async () => {
    const [user, id] = [randomUser(), randomId()];
    expect((await open(`dev_user=${user}&dev_device=${id}&dev_name=Tab+1&dev_type=macos`)).status).toBe(200);
    expect((await me({ 'X-Dev-User': user, 'X-Dev-Device': id })).device).toEqual({
      device_id: id,
      name: 'Tab 1',
      type: 'macos',
    });
  });

  test('cannot name the scope', async () => {
    expectProblem(
      await open(`dev_user=${randomUser()}&dev_device=${randomId()}`, { 'X-Dev-Scope': 'none' }),
      'unauthenticated',
    );
  });

  test.each(['dev_user', 'dev_device', 'dev_name', 'dev_type'])('is refused with %s twice', async (field) => {
    const { errors } = expectProblem(
      await open(`dev_user=${randomUser()}&dev_device=${randomId()}&dev_name=n&dev_type=ios&${field}=x`),
      'invalid_request',
    );
    expect(errors?.map(({ path }) => path)).toEqual([`/query/${field}`]);
  });

  test.each(routesWhere((route) => refusesStrangers(route) && !isStream(route)))(
    'is not believed by %s',
    async (name) => {
      const { path, ...rest } = sampleRequest(name, scene);
      expectProblem(await request(site.one, { ...rest, path: `${path}?dev_user=${randomUser()}` }), 'unauthenticated');
    },
  );
});
