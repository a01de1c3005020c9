import { type SignedIn, type SignInSite, cookieOf, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { expectProblem, request } from '../support/wire.ts';
import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { approval, ask, type Asked, denial, poll } from './parties.ts';

/* The other direction of signing in by a code: the signed-in device shows it, and the new one scans it. */

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterAll(() => site.stop());

interface Invite {
  invite_id: string;
  invite_payload: string;
  expires_at: number;
}

async function invite(device: SignedIn, replica = site.one): Promise<Invite> {
  const answer = await device.ask(replica, { method: 'POST', path: '/api/auth/qr/invite' });
  expect(answer.status).toBe(201);
  return answer.body as Invite;
}

const start = (inviteId: unknown, replica = site.two) =>
  request(replica, {
    ...{ method: 'POST', path: '/api/auth/qr/start' },
    body: { device_name: 'Phone', device_type: 'browser', invite: inviteId },
  });

const denialWithoutCode = ({ requestId }: Asked) => ({
  ...{ method: 'POST', path: '/api/auth/qr/deny' },
  body: { request_id: requestId },
});

test('the inviting device alone hears who scanned its code, and approves it; the new one is signed in', async () => {
  const laptop = await site.signIn();
  const tablet = await site.signIn(laptop.user);
  const [onLaptop, onTablet] = [laptop.listen(site.two), tablet.listen(site.one)];
  await Promise.all([onLaptop.next('ready'), onTablet.next('ready')]);
  const made = await invite(laptop);
  expect(made).toEqual({
    invite_id: expect.stringMatching(/^[\w-]{22}$/),
    invite_payload: `http://localhost:8080/join?i=${made.invite_id}`,
    expires_at: expect.any(Number),
  });
  expect(made.expires_at - Date.now()).toBeGreaterThan(60_000);
  expect(made.expires_at - Date.now()).toBeLessThan(180_000);

  const asked = await ask(site.one, { invite: made.invite_id });
  const { data } = await onLaptop.next('signin:requested');
  const view = await laptop.ask(site.two, {
    path: `/api/auth/qr/request?request_id=${asked.requestId}&approval_code=${asked.code}`,
  });
  const { allowed_scopes: _, allowed_persist: __, age_seconds: ___, ...seen } = view.body as Record<string, unknown>;
  expect(data).toEqual({ ...seen, approval_code: asked.code });
  expect(data).toMatchObject({ request_id: asked.requestId, device_name: 'Phone', device_type: 'browser' });

  await laptop.ask(site.one, approval(asked));
  const answer = await poll(site.two, asked, 5_000);
  const phone = signedIn(laptop.user, cookieOf(answer), answer.body as SessionAnswer);
  expect(phone.deviceId).toBe(data.device_id);
  await onTablet.next('device:added');
  expect(onTablet.events.map(({ name }) => name)).not.toContain('signin:requested');
  await Promise.all([onLaptop.stop(), onTablet.stop()]);
});

test('a request that waits is told again to each stream of the inviting device, until it is decided', async () => {
  const laptop = await site.signIn();
  const tablet = await site.signIn(laptop.user);
  const asked = await ask(site.one, { invite: (await invite(laptop)).invite_id });
  for (const replica of [site.one, site.two]) {
    const stream = laptop.listen(replica);
    await stream.next('ready');
    expect((await stream.next('signin:requested')).data).toMatchObject({ request_id: asked.requestId });
    await stream.stop();
  }
  // Another device of the account decides.
  await tablet.ask(site.one, denial(asked));
  const [later, other] = [laptop.listen(site.two), tablet.listen(site.two)];
  for (const stream of [later, other]) {
    await stream.next('ready');
    await laptop.ask(site.one, { method: 'POST', path: '/api/message', body: { to: '*', content: 'after' } });
    await tablet.ask(site.one, { method: 'POST', path: '/api/message', body: { to: '*', content: 'after' } });
    await stream.next('message');
    expect(stream.events.map(({ name }) => name)).not.toContain('signin:requested');
    await stream.stop();
  }
});

test.each([
  ['denied without its code', denialWithoutCode],
  ['approved', approval],
])('a request that another account has %s is not told again', async (_, decision) => {
  const laptop = await site.signIn();
  const stranger = await site.signIn();
  const asked = await ask(site.one, { invite: (await invite(laptop)).invite_id });
  expect((await stranger.ask(site.two, decision(asked))).status).toBe(200);
  const stream = laptop.listen(site.two);
  await stream.next('ready');
  const tablet = await site.signIn(laptop.user);
  await tablet.ask(site.one, { method: 'POST', path: '/api/message', body: { to: '*', content: 'after' } });
  await stream.next('message');
  expect(stream.events.map(({ name }) => name)).not.toContain('signin:requested');
  await stream.stop();
});

test('an invite serves one request: of twenty that scan it together one is asked about, the others are told', async () => {
  const laptop = await site.signIn();
  const { invite_id: id } = await invite(laptop);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => start(id, i % 2 === 0 ? site.one : site.two)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 201)) expectProblem(answer, 'not_found');
  expectProblem(await start(id), 'not_found');
});

test.each(['A'.repeat(22), 'x', '{sys}:replicas', '\u0000', 'é'.repeat(22)])(
  'an invite that never was, %j, is not found, and starts nothing',
  async (id) => {
    expectProblem(await start(id), 'not_found');
  },
);

test.each([null, 7, '', 'A'.repeat(129), ['a']])('%j is no invite', async (id) => {
  expectProblem(await start(id), 'invalid_request');
});

test('an invite whose time is over is not found', async () => {
  const laptop = await site.signIn();
  const { invite_id: id } = await invite(laptop);
  const redis = connectTo(sharedRedisUrl());
  const key = `${site.prefix}:{${encodeURIComponent(laptop.user)}}:invites`;
  const field = `invite:${id}`;
  const stored = (await redis.hget(key, field)) ?? '';
  expect(stored).toMatch(/\n\d+\n/);
  await redis.hset(key, field, stored.replace(/\n\d+\n/, `\n${Date.now() - 1}\n`));
  redis.disconnect();
  expectProblem(await start(id), 'not_found');
});

test('the invite of a device that was signed out since is not found', async () => {
  const laptop = await site.signIn();
  const tablet = await site.signIn(laptop.user);
  const { invite_id: id } = await invite(laptop);
  await tablet.ask(site.two, { method: 'DELETE', path: `/api/devices/${laptop.deviceId}` });
  expectProblem(await start(id), 'not_found');
});

test('a guest invites nobody, and neither does a session without a device', async () => {
  const guest = await site.signIn(undefined, { scope: 'guest' });
  expectProblem(await guest.ask(site.one, { method: 'POST', path: '/api/auth/qr/invite' }), 'guest_forbidden');
  const bare = await site.logIn();
  expectProblem(await bare.ask(site.one, { method: 'POST', path: '/api/auth/qr/invite' }), 'device_required');
});

test('a device invites ten times an hour', async () => {
  const strict = await site.startReplica({ APP_RATE_LIMIT_SCALE: '1' });
  const laptop = await site.signIn();
  for (let i = 0; i < 10; i++) await invite(laptop, strict);
  const refused = await laptop.ask(strict, { method: 'POST', path: '/api/auth/qr/invite' });
  expectProblem(refused, 'rate_limited');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(60);
});
