import type { Redis } from 'ioredis';
import { serviceOf } from '../broker/support/service.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { cookieOf, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request } from '../support/wire.ts';

/* Device rows are a cache of the broker's sessions. Lost rows come back, and rows of ended sessions go. */

const SECRET = 'a-secret-of-the-edge-that-is-long-enough';

let site: SignInSite;
let edge: ReplicaProcess;
let redis: Redis;
beforeAll(async () => {
  site = await startSignInSite();
  edge = await site.startReplica({ APP_IDENTITY: 'edge', APP_EDGE_SECRET: SECRET });
  redis = connectTo(sharedRedisUrl());
});
afterAll(async () => {
  redis.disconnect();
  await site.stop();
});

const rowsKey = (user: string): string => `${site.prefix}:{${user}}:devices`;
const ICE = { path: '/api/hub/ice' };
const namesOf = ({ body }: { body: unknown }) =>
  (body as { devices: { name: string }[] }).devices.map(({ name }) => name).sort();

// Proves G20.
test('a lost row is put back from the broker’s listing before a device route refuses', async () => {
  const laptop = await site.signIn();
  await redis.del(rowsKey(laptop.user));
  const transfer = {
    method: 'POST',
    path: '/api/transfer/init',
    body: { to: 'Nobody', files: [{ name: 'a', size: 1 }] },
  };
  expectProblem(await laptop.ask(site.two, transfer), 'not_found');
  expect(namesOf(await laptop.ask(site.one, { path: '/api/devices' }))).toEqual(['Laptop']);
});

test('the listing that puts a row back tells of the device as it is from then on', async () => {
  const laptop = await site.signIn();
  await redis.del(rowsKey(laptop.user));
  const listing = async () => (await laptop.ask(site.two, { path: '/api/auth/sessions' })).body;
  const asBrowser = { sessions: [{ name: 'Laptop', type: 'browser' }] };
  expect(await listing()).toMatchObject(asBrowser);
  expect(await listing()).toMatchObject(asBrowser);
});

test('behind an edge too, and the stream of the device is counted online', async () => {
  const laptop = await site.signIn();
  await redis.del(rowsKey(laptop.user));
  const headers = {
    ...{ 'X-Edge-Secret': SECRET, 'X-Auth-Subject': laptop.user, 'X-Auth-Scope': 'full' },
    'X-Auth-Meta': laptop.deviceId,
  };
  expect((await request(edge, { path: '/api/hub/events', headers })).status).toBe(200);
  expect(namesOf(await request(edge, { path: '/api/devices', headers }))).toEqual(['Laptop']);
});

test('a device that the broker has no session of gets none, and is refused what needs one', async () => {
  const laptop = await site.signIn();
  const headers = {
    ...{ 'X-Edge-Secret': SECRET, 'X-Auth-Subject': laptop.user, 'X-Auth-Scope': 'full' },
    'X-Auth-Meta': 'never-signed-in',
  };
  const transfer = {
    method: 'POST',
    path: '/api/transfer/init',
    body: { to: 'Laptop', files: [{ name: 'a', size: 1 }] },
  };
  expectProblem(await request(edge, { ...transfer, headers }), 'device_required');
  expect(namesOf(await laptop.ask(site.one, { path: '/api/devices' }))).toEqual(['Laptop']);
});

test('whoever comes back first after a loss, each of two devices of one name has its own again', async () => {
  const first = await site.signIn();
  const second = await site.signIn(first.user);
  const before = (await first.ask(site.one, { path: '/api/devices' })).body as {
    devices: { device_id: string; name: string }[];
  };
  await redis.del(rowsKey(first.user));
  await second.ask(site.two, ICE);
  const after = (await second.ask(site.one, { path: '/api/devices' })).body as typeof before;

  const names = ({ devices }: typeof before) => new Map(devices.map((each) => [each.device_id, each.name]));
  expect(names(after)).toEqual(names(before));
  expect([...names(after).values()].sort()).toEqual(['Laptop', 'Laptop 2']);
});

test('the listing removes rows of sessions that the broker has no more, but no young one that names no session', async () => {
  const laptop = await site.signIn();
  const phone = await site.signIn(laptop.user, { device_name: 'Phone' });
  const fresh = ['Fresh', 'browser', Date.now(), '', 0].join('\n');
  await redis.hset(rowsKey(laptop.user), 'without-a-session', fresh);
  const [listening, onPhone] = [laptop.listen(site.two), phone.listen(site.two)];
  await Promise.all([listening.next('ready'), onPhone.next('ready')]);
  await serviceOf(site.broker).tryRevoke({ subject: laptop.user, meta: phone.deviceId, reason: 'elsewhere' });
  await laptop.ask(site.one, {
    ...{ method: 'POST', path: '/api/transfer/init' },
    body: { to: 'Phone', files: [{ name: 'a', size: 1 }] },
  });
  const { body } = await laptop.ask(site.one, { path: '/api/auth/sessions' });

  expect((body as { sessions: { name: string }[] }).sessions.map((each) => each.name)).toEqual(['Laptop']);
  expect((await listening.next('device:removed')).data).toEqual({ device_id: phone.deviceId, reason: 'expired' });
  expect(namesOf(await laptop.ask(site.two, { path: '/api/devices' }))).toEqual(['Fresh', 'Laptop']);
  // Everything that the device took part in ends with it.
  expect((await onPhone.next('session:revoked')).data).toEqual({ reason: 'expired' });
  expect((await listening.next('transfer:updated')).data.transfer).toMatchObject({ state: 'CANCELLED' });
  expectProblem(await phone.ask(site.two, ICE), 'session_revoked');
  await Promise.all([listening.stop(), onPhone.stop()]);
});

test('the same request twice at once is one session and one row, and the answer of the later one works', async () => {
  const login = await site.logIn();
  const body = { device_id: 'laptop-0001', device_name: 'Laptop', device_type: 'browser' };
  const answers = await Promise.all(
    [site.one, site.two].map((replica) =>
      login.ask(replica, { method: 'POST', path: '/api/auth/device-session', body }),
    ),
  );

  const works: number[] = [];
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 200, body: { device: { device_id: 'laptop-0001', name: 'Laptop' } } });
    const tab = signedIn(login.user, cookieOf(answer), null);
    works.push((await tab.ask(site.two, { path: '/api/me' })).status);
  }
  expect(works.sort()).toEqual([200, 401]);
  const sessions = await serviceOf(site.broker).list(login.user);
  expect(sessions.filter(({ meta }) => meta !== '')).toHaveLength(1);
  expect(namesOf(await login.ask(site.one, { path: '/api/devices' }))).toEqual(['Laptop']);
});

test('the same removal twice at once is one', async () => {
  const laptop = await site.signIn();
  const phone = await site.signIn(laptop.user, { device_name: 'Phone' });
  const answers = await Promise.all(
    [site.one, site.two].map((replica) =>
      laptop.ask(replica, { method: 'DELETE', path: `/api/devices/${phone.deviceId}` }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([204, 204]);
  expectProblem(await phone.ask(site.two, ICE), 'session_revoked');
});

test('the account has room for so many devices, and one too many leaves no session behind', async () => {
  const laptop = await site.signIn();
  const row = String(await redis.hget(rowsKey(laptop.user), laptop.deviceId))
    .split('\n')
    .slice(1);
  const many = Array.from({ length: 63 }, (_, i) => [`device-${1000 + i}`, [`Device ${i}`, ...row].join('\n')]);
  await redis.hset(rowsKey(laptop.user), Object.fromEntries(many) as Record<string, string>);
  const login = await site.logIn(laptop.user);
  const answer = await login.ask(site.two, {
    ...{ method: 'POST', path: '/api/auth/device-session' },
    body: { device_id: 'phone-0001', device_name: 'Phone', device_type: 'browser' },
  });

  expectProblem(answer, 'device_limit');
  const sessions = await serviceOf(site.broker).list(laptop.user);
  expect(sessions.filter(({ meta }) => meta !== '').map(({ meta }) => meta)).toEqual([laptop.deviceId]);
});

test('what the service can do is told: sign-in by QR', async () => {
  const laptop = await site.signIn();
  const without = await site.startReplica({ APP_QR_LOGIN_ENABLED: 'false' });
  expect((await laptop.ask(site.one, { path: '/api/me' })).body).toMatchObject({ features: { qr: true } });
  expect((await laptop.ask(without, { path: '/api/me' })).body).toMatchObject({ features: { qr: false } });
});
