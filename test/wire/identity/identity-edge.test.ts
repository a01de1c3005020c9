import { randomBytes } from 'node:crypto';
import { makeDevice, randomUser } from '../../support/device.ts';
import { expectRight, isPublic, routesWhere, sampleRequest, refusesStrangers } from '../../support/samples.ts';
import { type Site, startSite } from '../../support/site.ts';
import { startReplica, type ReplicaProcess } from '../../support/replicas.ts';
import { sharedRedisUrl } from '../../support/redis/redis.ts';
import { keysHolding, picture } from '../../support/redis/stored.ts';
import { expectProblem, request, utf8Header } from '../../support/wire.ts';

/* Identity mode `edge` with `APP_EDGE_TRUST=secret` (CONTRACT.md, "Identity"). Replica `dev` beside it writes device rows. */

const SECRET = randomBytes(24).toString('hex');
const NEXT_SECRET = randomBytes(24).toString('hex');

let site: Site;
let dev: ReplicaProcess;
beforeAll(async () => {
  const env = { APP_IDENTITY: 'edge', APP_EDGE_SECRET: `${SECRET},${NEXT_SECRET}`, APP_LOG_LEVEL: 'debug' };
  site = await startSite(env, { alone: true });
  dev = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix });
});
afterAll(() => site.stop());

type Headers = Record<string, string | string[]>;
const user = randomUser();
const proof = { 'X-Edge-Secret': SECRET };
const identity = { 'X-Auth-Subject': user, 'X-Auth-Scope': 'full' };
const trusted = { ...proof, ...identity };
const askMe = (headers: Headers) => request(site.one, { path: '/api/me', headers });
const own = makeDevice({ user });
const scene = { own, other: own };
const forCallers = routesWhere(refusesStrangers);

describe('the proof', () => {
  test.each(forCallers)('is asked for by %s: without it the identity is not believed', async (name) => {
    const before = await picture(site.redis, site.prefix);
    expectProblem(await request(site.one, { ...sampleRequest(name, scene), headers: identity }), 'untrusted_edge');
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });

  test.each(routesWhere(isPublic))('is not asked for by %s', async (name) => {
    expectRight(name, await request(site.one, sampleRequest(name, scene)), scene);
  });

  test.each([
    ['a wrong one', 'x'.repeat(48)],
    ['the beginning of the right one', SECRET.slice(0, -1)],
    ['more than the right one', `${SECRET}0`],
    ['the right one in capitals', SECRET.toUpperCase()],
    ['the whole setting', `${SECRET},${NEXT_SECRET}`],
    ['nothing', ''],
  ])('is not %s', async (_, secret) => {
    expectProblem(await askMe({ ...identity, 'X-Edge-Secret': secret }), 'untrusted_edge');
  });

  test('may be either of two while it is being rotated', async () => {
    for (const secret of [SECRET, NEXT_SECRET])
      expect((await askMe({ ...identity, 'X-Edge-Secret': secret })).status).toBe(200);
  });

  test('sent twice is refused as added to, also when one is right', async () => {
    expectProblem(await askMe({ ...identity, 'X-Edge-Secret': [SECRET, 'x'] }), 'invalid_request');
    expectProblem(await askMe({ ...identity, 'X-Edge-Secret': [SECRET, SECRET] }), 'invalid_request');
  });

  test('is looked at before the identity: without it nothing is told about wrong headers', async () => {
    expectProblem(await askMe({ 'X-Auth-Subject': ['a', 'b'], 'X-Auth-Scope': 'king' }), 'untrusted_edge');
    expectProblem(await askMe({ X_Auth_Subject: 'a' }), 'untrusted_edge');
  });

  test('alone is nobody, and so is a request with neither', async () => {
    expectProblem(await askMe(proof), 'unauthenticated');
    expectProblem(await askMe({}), 'unauthenticated');
  });

  test('is in no answer, no log line and no key', async () => {
    const answers = [await askMe(trusted), await askMe({ ...trusted, 'X-Auth-Scope': 'king' })];
    for (const { text, headers } of answers) expect(text + JSON.stringify(headers)).not.toContain(SECRET);
    expect(site.one.log()).toContain('/api/me');
    expect(site.one.log()).not.toContain(SECRET);
    expect(await keysHolding(site.redis, site.prefix, SECRET)).toEqual([]);
  });
});

describe('the identity', () => {
  test('is what the headers say', async () => {
    const headers = { ...trusted, 'X-Auth-Name': 'Zo%C3%AB%20M%C3%BCller', 'X-Auth-Roles': 'admin, staff ,,ops' };
    expect((await askMe(headers)).body).toMatchObject({
      user_id: user,
      name: 'Zoë Müller',
      scope: 'full',
      roles: ['admin', 'staff', 'ops'],
      device: null,
    });
  });

  test('is nameless, without device and roles, when those headers are absent or empty', async () => {
    for (const headers of [trusted, { ...trusted, 'X-Auth-Name': '', 'X-Auth-Meta': '', 'X-Auth-Roles': '' }]) {
      expect((await askMe(headers)).body).toMatchObject({ name: user, roles: [], device: null });
    }
  });

  test.each(['%zz', '100%', '%C3', 'M\xfcller'])(
    'takes a name that is not percent-encoded as it came: %s',
    async (name) => {
      const answer = await askMe({ ...trusted, 'X-Auth-Name': name });
      expect(answer.body).toMatchObject({ name });
    },
  );

  test('keeps no control character of a name', async () => {
    expect((await askMe({ ...trusted, 'X-Auth-Name': 'a%0D%0Ab%00%1B%5B31mc%C2%85' })).body).toMatchObject({
      name: 'ab[31mc',
    });
  });

  test.each(['x', '!~', 'a/b:c{d}', 'x'.repeat(255), 'auth0|1234'])('may have the subject %s', async (subject) => {
    expect((await askMe({ ...trusted, 'X-Auth-Subject': subject })).body).toMatchObject({ user_id: subject });
  });

  test.each([
    ['absent', null],
    ['empty', ''],
    ['256 characters long', 'x'.repeat(256)],
    ['two words', 'two words'],
    ['not ASCII', utf8Header('zoë')],
  ])('is nobody when the subject is %s', async (_, subject) => {
    const headers = { ...proof, 'X-Auth-Scope': 'full', ...(subject !== null && { 'X-Auth-Subject': subject }) };
    expectProblem(await askMe(headers), 'unauthenticated');
  });

  test.each(['Full', 'FULL', 'admin', 'full guest', 'full,guest', ''])(
    'is nobody when the scope is "%s": it never means full',
    async (scope) => {
      expectProblem(await askMe({ ...trusted, 'X-Auth-Scope': scope }), 'unauthenticated');
    },
  );

  test('is nobody without a scope, as when a proxy dropped the header', async () => {
    expectProblem(await askMe({ ...proof, 'X-Auth-Subject': user }), 'unauthenticated');
    expectProblem(await askMe({ ...trusted, Connection: 'X-Auth-Scope', 'X-Auth-Scope': [] }), 'unauthenticated');
  });

  test.each(['short', 'x'.repeat(65), 'with space', '{u}'])('is nobody when the device is "%s"', async (meta) => {
    expectProblem(await askMe({ ...trusted, 'X-Auth-Meta': meta }), 'unauthenticated');
  });

  test.each(['X-Auth-Subject', 'X-Auth-Scope', 'X-Auth-Meta', 'X-Auth-Name', 'X-Auth-Roles'])(
    'is refused when %s is there twice or as its twin',
    async (name) => {
      const good: Headers = { ...trusted, 'X-Auth-Meta': own.id, 'X-Auth-Name': 'n', 'X-Auth-Roles': 'r' };
      const value = good[name] as string;
      const { [name]: _, ...rest } = good;
      for (const headers of [
        { ...good, [name]: [value, value] },
        { ...good, [name.replaceAll('-', '_')]: value },
        { ...rest, [name.replaceAll('-', '_')]: value },
      ]) {
        expectProblem(await askMe(headers), 'invalid_request');
      }
    },
  );

  test('comes from nowhere else: neither development headers, nor query, nor cookie, nor bearer', async () => {
    const headers = { 'X-Dev-User': user, 'X-Dev-Scope': 'full', Authorization: 'Bearer x', Cookie: 'baton=v1.x.y' };
    expectProblem(await request(site.one, { path: `/api/me?dev_user=${user}`, headers }), 'unauthenticated');
    expect((await askMe({ ...trusted, ...headers, 'X-Dev-User': 'eve', X_Dev_User: 'eve' })).body).toMatchObject({
      user_id: user,
    });
  });
});

describe('a device', () => {
  const as = (id: string, more: Headers = {}): Headers => ({ ...trusted, 'X-Auth-Meta': id, ...more });

  test('with a row is served with the name of its row', async () => {
    const device = makeDevice({ user, name: 'Laptop', type: 'macos' });
    await device.on(dev).call('getMe');
    expect((await askMe(as(device.id))).body).toMatchObject({ device: { device_id: device.id, type: 'macos' } });
  });

  describe('without a row', () => {
    const lost = makeDevice({ user });

    test.each(['sendMessage', 'listMessages', 'ackMessages', 'setClipboard', 'renameDevice'] as const)(
      'is told by %s that it needs one, and leaves no trace in the account',
      async (name) => {
        const before = await picture(site.redis, `${site.prefix}:{${user}}`);
        const answer = await request(site.one, {
          ...sampleRequest(name, { own: lost, other: lost }),
          headers: as(lost.id),
        });
        expectProblem(answer, 'device_required');
        expect(await picture(site.redis, `${site.prefix}:{${user}}`, before)).toEqual(before);
      },
    );

    test.each(['getMe', 'listDevices', 'getPresence', 'getClipboard', 'openStream'] as const)(
      'may still use %s',
      async (name) => {
        expect(
          (await request(site.one, { ...sampleRequest(name, { own: lost, other: lost }), headers: as(lost.id) }))
            .status,
        ).toBe(200);
      },
    );

    test('has no device in what it is told about itself', async () => {
      expect((await askMe(as(lost.id))).body).toMatchObject({ device: null });
    });
  });
});
