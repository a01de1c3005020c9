import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { eventually } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { cookieOf, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { expectProblem, request } from '../support/wire.ts';
import { approval, ask, denial, poll, shapeOf } from './parties.ts';

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0', APP_LOG_LEVEL: 'debug' });
});
afterAll(() => site.stop());

const NAMES = { request: 'A'.repeat(22), secret: 'A'.repeat(43) };
const sessionsOf = async (user: string) => (await serviceOf(site.broker).list(user)).filter(({ meta }) => meta !== '');

test('a new device is signed in by one that is: it alone gets the session, on whatever replica it waits', async () => {
  const laptop = await site.signIn();
  const onLaptop = laptop.listen(site.two);
  await onLaptop.next('ready');
  const asked = await ask(site.one, { device_id: 'chosen-by-me-01', device_type: 'ios' });
  const waiting = poll(site.two, asked, 25_000);
  const seen = await laptop.ask(site.one, {
    path: `/api/auth/qr/request?request_id=${asked.requestId}&approval_code=${asked.code}`,
  });
  const approved = await laptop.ask(site.one, approval(asked));
  const startedAt = performance.now();
  const answer = await waiting;
  process.stdout.write(
    `the poll on the other replica answered ${Math.round(performance.now() - startedAt)} ms after\n`,
  );
  const session = answer.body as SessionAnswer & { status: string };
  const phone = signedIn(laptop.user, cookieOf(answer), session);

  expect(seen.body).toMatchObject({
    ...{ request_id: asked.requestId, device_name: 'Phone', device_type: 'ios', allowed_scopes: ['full'] },
    source: { address: '127.0.0.0/24', user_agent: 'An unknown program' },
  });
  expect(approved.body).toEqual({ status: 'approved' });
  expect(answer.status).toBe(200);
  expect(session).toMatchObject({
    ...{ status: 'approved', scope: 'full', persist: 'once', token_type: 'Bearer', user: { user_id: laptop.user } },
    device: { name: 'Phone', type: 'ios' },
  });
  expect(phone.deviceId).not.toBe('chosen-by-me-01');
  expect((await phone.ask(site.one, { path: '/api/me' })).body).toMatchObject({
    device: { device_id: phone.deviceId },
  });
  expect((await onLaptop.next('device:added')).data.device).toMatchObject({ device_id: phone.deviceId, name: 'Phone' });
  expectProblem(await poll(site.one, asked), 'login_consumed');
  expect((await poll(site.two, asked)).text).not.toMatch(/v1\.|eyJ/);
  await onLaptop.stop();
});

test('an unknown request, a wrong secret and what cannot be an id are told the same', async () => {
  const asked = await ask(site.one);
  const answers = await Promise.all([
    poll(site.one, { requestId: NAMES.request, secret: NAMES.secret }),
    poll(site.two, { requestId: asked.requestId, secret: NAMES.secret }),
    poll(site.one, { requestId: '{sys}:replicas', secret: NAMES.secret }),
  ]);
  for (const answer of answers) expect(shapeOf(answer)).toEqual(shapeOf(answers[0]));
  expectProblem(answers[0], 'not_found');
});

test.each([{}, { 'X-Poll-Secret': '' }, { 'X-Poll-Secret': 'short' }, { 'X-Poll-Secret': ['a', 'b'] }])(
  'a poll with %j as its secret is told so',
  async (headers) => {
    const { requestId } = await ask(site.one);
    const path = `/api/auth/qr/status?request_id=${requestId}&wait_ms=0`;
    expectProblem(await request(site.one, { path, headers }), 'poll_secret_required');
  },
);

// Proves G11.
test('fifty polls at the moment of approval: one gets the session, and there is one', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one);
  const polls = Array.from({ length: 25 }, () => [poll(site.one, asked, 3_000), poll(site.two, asked, 3_000)]).flat();
  await laptop.ask(site.two, approval(asked));
  const more = Array.from({ length: 50 }, (_, i) => poll(i % 2 ? site.one : site.two, asked, 5_000));
  const answers = await Promise.all([...polls, ...more]);

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1);
  for (const { status } of answers) expect([200, 202, 410]).toContain(status);
  expect(await sessionsOf(laptop.user)).toHaveLength(2);
});

test('HEAD is refused: nobody would get the session', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one);
  await laptop.ask(site.one, approval(asked));
  const head = await request(site.two, {
    ...{ method: 'HEAD', path: `/api/auth/qr/status?request_id=${asked.requestId}` },
    headers: { 'X-Poll-Secret': asked.secret },
  });
  expect([head.status, head.headers.allow]).toEqual([405, 'GET']);
  expect((await poll(site.two, asked)).status).toBe(200);
});

test('a newer poll ends the older one, which is told that nothing happened yet', async () => {
  const asked = await ask(site.one);
  const startedAt = performance.now();
  const older = poll(site.one, asked, 25_000);
  const look = connectTo(sharedRedisUrl());
  // If both were sent at the same time, either could come first, and the one that should end might last its whole time.
  await until(
    () => look.hget(`${site.prefix}:login:{${asked.requestId}}`, 'waiter'),
    (waiter) => waiter !== null,
    'the older poll to wait',
  );
  const other = poll(site.two, asked, 400);
  expect((await older).body).toMatchObject({ status: 'pending' });
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  expect((await other).body).toMatchObject({ status: 'pending' });
  look.disconnect();
});

test('denied, the device is told so, and nobody can approve it any more', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one);
  const waiting = poll(site.two, asked, 25_000);
  expect((await laptop.ask(site.one, denial(asked))).body).toEqual({ status: 'denied' });

  expectProblem(await waiting, 'access_denied');
  expectProblem(await laptop.ask(site.two, approval(asked)), 'already_decided');
  const other = await site.signIn();
  expectProblem(await other.ask(site.two, approval(asked)), 'already_decided');
});

test('approved, nobody can deny or approve it again, neither the same user nor another', async () => {
  const [laptop, stranger] = [await site.signIn(), await site.signIn()];
  const asked = await ask(site.one);
  await laptop.ask(site.one, approval(asked));
  for (const device of [laptop, stranger]) {
    expectProblem(await device.ask(site.two, denial(asked)), 'already_decided');
    expectProblem(await device.ask(site.two, approval(asked)), 'already_decided');
  }
  const { body } = await poll(site.two, asked);
  expect(body).toMatchObject({ user: { user_id: laptop.user } });
  expectProblem(await stranger.ask(site.one, approval(asked)), 'login_consumed');
});

test('an approver who was signed out before the device came has approved nothing', async () => {
  const [laptop, other] = [await site.signIn(), null];
  const second = await site.signIn(laptop.user, { device_name: 'Second' });
  const asked = await ask(site.one);
  await second.ask(site.one, approval(asked));
  await laptop.ask(site.two, { method: 'DELETE', path: `/api/devices/${second.deviceId}` });

  expectProblem(await poll(site.one, asked), 'access_denied');
  expect(other).toBeNull();
  expect((await sessionsOf(laptop.user)).map(({ meta }) => meta)).toEqual([laptop.deviceId]);
});

test('an approver who was signed out is nobody, also to a broker that has not kept the word', async () => {
  const laptop = await site.signIn();
  const second = await site.signIn(laptop.user, { device_name: 'Second' });
  const asked = await ask(site.one);
  await second.ask(site.one, approval(asked));
  await laptop.ask(site.two, { method: 'DELETE', path: `/api/devices/${second.deviceId}` });
  await serviceOf(site.broker).mint({ subject: laptop.user, meta: second.deviceId });

  expectProblem(await poll(site.one, asked), 'access_denied');
});

test('an app can only be approved with full scope', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one, { device_type: 'windows' });
  expectProblem(await laptop.ask(site.one, approval(asked, { scope: 'guest' })), 'scope_not_allowed');
  expect((await laptop.ask(site.one, approval(asked))).status).toBe(200);
});

test('a guest sees and approves nothing, and may deny', async () => {
  const guest = await site.signIn(undefined, { scope: 'guest' });
  const asked = await ask(site.one);
  const path = `/api/auth/qr/request?request_id=${asked.requestId}&approval_code=${asked.code}`;
  expectProblem(await guest.ask(site.one, { path }), 'guest_forbidden');
  expectProblem(await guest.ask(site.one, approval(asked)), 'guest_forbidden');
  expect((await guest.ask(site.one, denial(asked))).status).toBe(200);
});

test('with the broker away the approval waits, and works once it is back', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one);
  await laptop.ask(site.one, approval(asked));
  await site.broker.kill();
  expectProblem(await poll(site.one, asked), 'broker_unavailable');
  await site.restartBroker();
  let answer = await poll(site.two, asked);
  // The breaker of the one replica may still be open. The other one has not asked yet.
  for (let i = 0; i < 20 && answer.status === 503; i++) answer = await poll(site.two, asked, 500);
  expect(answer.body).toMatchObject({ status: 'approved', user: { user_id: laptop.user } });
  expect(await sessionsOf(laptop.user)).toHaveLength(2);
});

// Proves G11.
test('a replica killed while it asks the broker leaves one session, which the next poll gets', async () => {
  const laptop = await site.signIn();
  const doomed = await site.startReplica();
  const asked = await ask(site.one);
  await laptop.ask(site.one, approval(asked));
  // A stopped broker takes the connection and says nothing.
  site.broker.process.kill('SIGSTOP');
  const lost = poll(doomed, asked).catch(() => null);
  const redis = connectTo(sharedRedisUrl());
  const key = `${site.prefix}:login:{${asked.requestId}}`;
  for (let i = 0; i < 200 && !(await redis.hget(key, 'lease')); i++) await redis.ping();
  await doomed.kill();
  site.broker.process.kill('SIGCONT');
  await lost;

  let answer = await poll(site.two, asked, 10_000);
  for (let i = 0; i < 10 && answer.status === 202; i++) answer = await poll(site.two, asked, 10_000);
  redis.disconnect();
  expect(answer.body).toMatchObject({ status: 'approved' });
  expect(await sessionsOf(laptop.user)).toHaveLength(2);
});

test('nothing that was secret is in the store or in a log afterwards', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one);
  await laptop.ask(site.two, { path: `/link/plain?r=${asked.requestId}&c=${asked.code}` });
  await laptop.ask(site.one, approval(asked));
  const answer = await poll(site.two, asked);
  const secret = cookieOf(answer).split('.')[2] as string;
  const redis = connectTo(sharedRedisUrl());
  for (const text of [asked.code, asked.secret, secret, (answer.body as SessionAnswer).access_token]) {
    expect(text.length).toBeGreaterThan(20);
    for (const prefix of [site.prefix, site.brokerPrefix]) expect(await keysHolding(redis, prefix, text)).toEqual([]);
    for (const log of [site.one.log(), site.two.log(), site.broker.log()]) expect(log).not.toContain(text);
  }
  redis.disconnect();
});

test('the code that is shown names this service, whatever the request says', async () => {
  const { payload } = await ask(site.one, {}, { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' });
  expect(payload).toMatch(/^http:\/\/localhost:8080\/link\?r=[\w-]{22}&c=[\w-]{22}$/);
});

test.each(['*', '', 'x'.repeat(33), 'ü', 'a\u202Eb', 'a\u0000b'])('%j is no name for a device', async (name) => {
  const body = { device_name: name, device_type: 'browser' };
  const answer = await request(site.one, { method: 'POST', path: '/api/auth/qr/start', body });
  expectProblem(answer, 'invalid_device_name');
});

test('identity headers mean nothing to the public routes', async () => {
  const asked = await ask(site.one, {}, { 'X-Auth-Subject': 'eve', 'X-Dev-User': 'eve', 'X-Auth-Scope': 'full' });
  expect((await poll(site.two, asked)).body).toMatchObject({ status: 'pending' });
});

test('a session that nobody uses within two minutes ends; one that is used, or renewed, stays', async () => {
  const laptop = await site.signIn();
  const ids: string[] = [];
  const renewal = { method: 'POST', path: '/api/auth/refresh' };
  for (const use of [null, renewal, { path: '/api/me' }]) {
    const asked = await ask(site.one);
    await laptop.ask(site.one, approval(asked));
    const answer = await poll(site.two, asked);
    const phone = signedIn(laptop.user, cookieOf(answer), answer.body as SessionAnswer);
    if (use) expect((await phone.ask(site.two, use)).status).toBe(200);
    ids.push(phone.deviceId);
  }
  // By the store's clock the two minutes are over.
  const redis = connectTo(sharedRedisUrl());
  const account = encodeURIComponent(laptop.user);
  const due = `${site.prefix}:{${account}}:due`;
  // The claims of the other devices went with their first request, or go now.
  const jobs = await eventually('the claims of those that were used to be settled', async () => {
    const claims = (await redis.zrange(due, '0', '-1')).filter((job) => job.startsWith('claim:'));
    return claims.length === 1 ? claims : null;
  });
  const stream = laptop.listen(site.one);
  await stream.next('ready');
  for (const job of jobs) await redis.zadd(due, 1, job);
  for (let shard = 0; shard < 16; shard++) await redis.zadd(`${site.prefix}:due:{${shard}}`, 'XX', 1, account);
  const { data } = await stream.next('device:removed');
  redis.disconnect();

  expect(jobs).toEqual([`claim:${ids[0]}`]);
  expect(data.device_id).toBe(ids[0]);
  const left = (await sessionsOf(laptop.user)).map(({ meta }) => meta);
  expect(left).toEqual(expect.arrayContaining([laptop.deviceId, ids[1], ids[2]]));
  await stream.stop();
});

describe('the page without script', () => {
  const open = (asked: { requestId: string; code: string }) => ({
    path: `/link/plain?r=${asked.requestId}&c=${asked.code}`,
  });
  const form = (asked: { requestId: string; code: string }, fields: Record<string, string>) => ({
    ...{ method: 'POST', path: '/link' },
    form: { request_id: asked.requestId, approval_code: asked.code, ...fields },
  });

  test('sends who is not signed in to the login, and keeps the code for afterwards', async () => {
    const asked = await ask(site.one);
    const { status, headers } = await request(site.one, open(asked));
    expect(status).toBe(302);
    const target = new URL(String(headers['location']), 'http://localhost:8080');
    expect(target.pathname).toBe('/api/auth/login');
    expect(target.searchParams.get('return_to')).toBe(`/link/plain?r=${asked.requestId}&c=${asked.code}`);
  });

  test('asks about ANOTHER device, denies first, offers an hour, and runs no script', async () => {
    const laptop = await site.signIn();
    const asked = await ask(
      site.one,
      { device_name: '<script>x</script>' },
      { 'User-Agent': 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0' },
    );
    const { status, headers, text } = await laptop.ask(site.two, open(asked));

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('strict-origin');
    expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'/);
    expect(text).toContain('ANOTHER device');
    expect(text).toContain('Firefox on Windows');
    expect(text).toContain('127.0.0.0/24');
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script');
    expect(text.indexOf('value="deny"')).toBeLessThan(text.indexOf('value="approve"'));
    expect(text).toMatch(/value="once"/);
    expect((await poll(site.one, asked)).status).toBe(202);
  });

  test('lets the device in by its form', async () => {
    const laptop = await site.signIn();
    const asked = await ask(site.one);
    const answer = await laptop.ask(site.two, form(asked, { decision: 'approve', scope: 'guest', persist: 'once' }));
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('Approved') });
    expect((await poll(site.one, asked)).body).toMatchObject({ status: 'approved', scope: 'guest', persist: 'once' });
  });

  test('keeps it out by its form, and is no use to another site or to a guest', async () => {
    const laptop = await site.signIn();
    const guest = await site.signIn(laptop.user, { scope: 'guest' });
    const asked = await ask(site.one);
    const foreign = { ...form(asked, { decision: 'approve' }), headers: { Origin: 'https://evil.example' } };
    expectProblem(await laptop.ask(site.one, foreign), 'cross_site');
    expect((await guest.ask(site.one, form(asked, { decision: 'approve' }))).status).toBe(403);
    expect((await guest.ask(site.one, open(asked))).status).toBe(403);
    expect((await poll(site.one, asked)).status).toBe(202);
    expect((await laptop.ask(site.one, form(asked, { decision: 'deny' }))).text).toContain('Denied');
    expectProblem(await poll(site.two, asked), 'access_denied');
  });

  test('says in words what is wrong with a code', async () => {
    const laptop = await site.signIn();
    const { status, text } = await laptop.ask(site.one, open({ requestId: NAMES.request, code: NAMES.request }));
    expect(status).toBe(404);
    expect(text).toMatch(/show a new one/i);
  });
});
