import { Agent, request as httpRequest } from 'node:http';
import type { IssuedSession } from '../../shared/contract/modules/broker.ts';
import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { eventually } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import { type BrokerDoor, startBrokerDoor } from '../support/sign-in/broker-door.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { cookieOf, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request } from '../support/wire.ts';
import { approval, type Asked, ask, poll } from './parties.ts';

/* Something fails in the middle of a sign-in by a code. Each case leaves exactly one session, or none. */

let site: SignInSite;
let door: BrokerDoor;
let behind: ReplicaProcess;
beforeAll(async () => {
  site = await startSignInSite();
  door = await startBrokerDoor(site.broker);
  behind = await site.startReplica({ APP_BROKER_URL: door.url });
});
afterEach(() => door.open());
afterAll(async () => {
  await site.stop();
  await door.stop();
});

const approved = async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  expect((await laptop.ask(site.two, approval(asked))).status).toBe(200);
  return { laptop, asked };
};

const phonesOf = async (user: string) =>
  (await serviceOf(site.broker).list(user)).filter(({ label }) => label === 'Phone');

/** Returns the request as it is stored. */
async function stored({ requestId }: Asked): Promise<Record<string, string>> {
  const redis = connectTo(sharedRedisUrl());
  const fields = await redis.hgetall(`${site.prefix}:login:{${requestId}}`);
  redis.disconnect();
  return fields;
}

/** From now on the broker mints, and its answers get lost. Resolves to the session that it minted. */
function losingMints(): Promise<IssuedSession> {
  return new Promise((resolve) => {
    door.answer('POST /v1/sessions', async (real) => {
      resolve((await real()).body as IssuedSession);
      return null;
    });
  });
}

// Proves G11.
test('a broker that answers after our patience: 503, and the next poll gets the same session', async () => {
  const { laptop, asked } = await approved();
  const minted = losingMints();
  const answer = await poll(behind, asked);
  expectProblem(answer, 'broker_unavailable');
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect((await stored(asked))['state']).toBe('approved');
  const late = await poll(site.two, asked);

  expect(late.status).toBe(200);
  expect((await phonesOf(laptop.user)).map(({ session_id }) => session_id)).toEqual([(await minted).session_id]);
  const phone = signedIn(laptop.user, cookieOf(late), late.body as SessionAnswer);
  expect((await phone.ask(site.one, { path: '/api/me' })).status).toBe(200);
});

// Proves G11.
test('a client that leaves while its session is made: its next poll gets that session', async () => {
  const { laptop, asked } = await approved();
  const minted = losingMints();
  const { hostname, port } = new URL(behind.url);
  const path = `/api/auth/qr/status?request_id=${asked.requestId}`;
  const agent = new Agent();
  const sent = httpRequest({ agent, hostname, port, path, headers: { 'X-Poll-Secret': asked.secret } });
  sent.on('error', () => undefined).end();
  const { session_id: id } = await minted;
  sent.destroy();
  agent.destroy();
  door.open();

  const answer = await poll(site.two, asked, 25_000);
  expect(answer.status).toBe(200);
  expect((await phonesOf(laptop.user)).map(({ session_id }) => session_id)).toEqual([id]);
});

test('an approver who is only a guest by now, or whom the broker has signed out, lets nobody in', async () => {
  const { laptop, asked } = await approved();
  await serviceOf(site.broker).tryRevoke({ subject: laptop.user, meta: laptop.deviceId, reason: 'admin' });
  expectProblem(await poll(site.one, asked), 'access_denied');

  const second = await approved();
  await serviceOf(site.broker).mint({
    ...{ subject: second.laptop.user, meta: second.laptop.deviceId },
    ...{ scope: 'guest' as const, caller_tier: 'guest' as const },
  });
  expectProblem(await poll(site.two, second.asked), 'access_denied');
  expect(await phonesOf(second.laptop.user)).toEqual([]);
});

test('an approver without a device who is out by now lets nobody in, whoever else is still there', async () => {
  const login = await site.logIn();
  const [gone, asked] = [await site.logIn(login.user), await ask(site.one)];
  expect((await gone.ask(site.two, approval(asked))).status).toBe(200);
  await gone.ask(site.one, { method: 'POST', path: '/api/auth/logout' });
  expectProblem(await poll(site.two, asked), 'access_denied');

  const [laptop, another] = [await site.signIn(login.user), await ask(site.one)];
  expect((await login.ask(site.one, approval(another))).status).toBe(200);
  expect((await laptop.ask(site.two, { method: 'DELETE', path: '/api/auth/sessions' })).status).toBe(200);
  expectProblem(await poll(site.one, another), 'access_denied');
  expect(await phonesOf(login.user)).toEqual([]);
});

test('an approver without a device who is still there lets one in', async () => {
  const [login, asked] = [await site.logIn(), await ask(site.one)];
  expect((await login.ask(site.two, approval(asked))).status).toBe(200);
  expect((await poll(site.one, asked)).body).toMatchObject({ status: 'approved', user: { user_id: login.user } });
});

test('an approver whose session ended, and whose row is gone with it, lets nobody in', async () => {
  const { laptop, asked } = await approved();
  await serviceOf(site.broker).tryRevoke({ subject: laptop.user, meta: laptop.deviceId, reason: 'admin' });
  const redis = connectTo(sharedRedisUrl());
  await redis.hdel(`${site.prefix}:{${laptop.user}}:devices`, laptop.deviceId);
  redis.disconnect();
  expectProblem(await poll(site.one, asked), 'access_denied');
  expect(await phonesOf(laptop.user)).toEqual([]);
});

test('of a request that nobody decided its state is kept, and nothing of who asked', async () => {
  const short = await site.startReplica({ APP_QR_REQUEST_TTL_SECONDS: '1' });
  const asked = await ask(short);
  expectProblem(await poll(site.two, asked, 25_000), 'login_expired');
  const kept = await stored(asked);
  expect(kept['state']).toBe('expired');
  for (const field of ['name', 'type', 'device', 'address', 'agent', 'waiter']) expect(kept).not.toHaveProperty(field);
});

test('right codes are not counted as wrong ones', async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  const path = `/api/auth/qr/request?request_id=${asked.requestId}&approval_code=${asked.code}`;
  for (let time = 0; time < 12; time++) expect((await laptop.ask(site.one, { path })).status).toBe(200);
  const atOnce = await Promise.all(
    Array.from({ length: 12 }, (_, i) => laptop.ask(i % 2 ? site.one : site.two, { path })),
  );
  expect(atOnce.map(({ status }) => status)).toEqual(Array(12).fill(200));
});

test.each(['-1', '25001', 'x', '1.5'])('a poll that would wait for %s ms is refused', async (waitMs) => {
  const { requestId, secret } = await ask(site.one);
  const path = `/api/auth/qr/status?request_id=${requestId}&wait_ms=${waitMs}`;
  expectProblem(await request(site.one, { path, headers: { 'X-Poll-Secret': secret } }), 'invalid_request');
});

test.each([
  { device_name: 'x'.repeat(10_240), device_type: 'browser' },
  { device_name: 'Phone', device_type: 'toaster' },
  { device_name: 7, device_type: 'browser' },
  { device_name: 'Phone' },
])('a beginning that is none is refused', async (body) => {
  expectProblem(await request(site.one, { method: 'POST', path: '/api/auth/qr/start', body }), 'invalid_request');
});

test('what became of requests is counted', async () => {
  const counted = await eventually('every outcome was counted', async () => {
    const texts = await Promise.all(
      [site.one, site.two].map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
    );
    const found = [...texts.join('\n').matchAll(/^baton_login_requests_total{outcome="(\w+)"} [1-9]/gm)];
    const outcomes = new Set(found.map(([, outcome]) => outcome));
    return outcomes.size >= 3 ? outcomes : null;
  });
  for (const outcome of ['started', 'approved', 'consumed']) expect(counted).toContain(outcome);
});
