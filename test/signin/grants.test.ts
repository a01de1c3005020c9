import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { serviceOf } from '../broker/support/service.ts';
import { type BrokerDoor, startBrokerDoor } from '../support/sign-in/broker-door.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { cookieOf, type SignedIn, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { approval, type Asked, ask, poll } from './parties.ts';

/* An approver grants at most what it has: its persistence, and no later end (CONTRACT.md, "Signing in by a code"), in every mode of identity. */

const SECRET = 'an-edge-secret-of-at-least-32-characters';

let site: SignInSite;
let door: BrokerDoor;
let edge: ReplicaProcess;
beforeAll(async () => {
  site = await startSignInSite();
  door = await startBrokerDoor(site.broker);
  edge = await site.startReplica({
    ...{ APP_IDENTITY: 'edge', APP_EDGE_TRUST: 'secret', APP_EDGE_SECRET: SECRET },
    APP_BROKER_URL: door.url,
  });
});
afterEach(() => door.open());
afterAll(async () => {
  await site.stop();
  await door.stop();
});

/** Makes a device of the user whose session is not renewed and ends this soon. */
async function endingDevice(user: string, seconds: number): Promise<SignedIn & { endsAt: number }> {
  const { cookie, expires_at: endsAt } = await serviceOf(site.broker).mint({
    ...{ subject: user, meta: crypto.randomUUID(), persist: 'once', ttl_seconds: seconds, sliding: false },
  });
  const known = signedIn(user, `${cookie.name}=${cookie.value}`, null);
  await known.ask(site.one, { path: '/api/devices' });
  return { ...known, endsAt };
}

const sessionIn = (answer: WireAnswer): SessionAnswer => {
  expect(answer).toMatchObject({ status: 200, body: { status: 'approved' } });
  return answer.body as SessionAnswer;
};

const deviceIn = (user: string, answer: WireAnswer): SignedIn => signedIn(user, cookieOf(answer), sessionIn(answer));

const formOf = ({ requestId, code }: Asked, fields: Record<string, string>) => ({
  ...{ method: 'POST', path: '/link' },
  form: { request_id: requestId, approval_code: code, decision: 'approve', scope: 'full', ...fields },
});

/** Returns what an edge says about a device, and nothing more. */
const byEdge = ({ user, deviceId }: SignedIn) => ({
  'X-Edge-Secret': SECRET,
  'X-Auth-Subject': user,
  'X-Auth-Scope': 'full',
  'X-Auth-Meta': deviceId,
});

describe('a device whose session is not renewed', () => {
  test('cannot make itself permanent by a code of its own', async () => {
    const once = await site.signIn(undefined, { persist: 'once' });
    const asked = await ask(site.one);
    for (const replica of [site.one, site.two]) {
      expectProblem(await once.ask(replica, approval(asked, { persist: 'persist' })), 'tier_exceeded');
    }
    const page = await once.ask(site.two, formOf(asked, { persist: 'persist' }));
    expect([page.status, page.headers['content-type']]).toEqual([403, 'text/html; charset=utf-8']);
    expect((await poll(site.two, asked)).status).toBe(202);
  });

  test('lets others in until its own end at the latest, and these let others in for no longer', async () => {
    const first = await endingDevice(randomUser(), 600);
    let approver: SignedIn = first;
    for (let generation = 0; generation < 3; generation++) {
      const asked = await ask(site.one);
      expect((await approver.ask(site.two, approval(asked, { persist: 'once' }))).status).toBe(200);
      const answer = await poll(site.one, asked);
      expect(sessionIn(answer)).toMatchObject({ persist: 'once' });
      expect(sessionIn(answer).session_expires_at).toBeLessThanOrEqual(first.endsAt);
      expect(sessionIn(answer).session_expires_at).toBeGreaterThan(first.endsAt - 30_000);
      approver = deviceIn(first.user, answer);
    }
    const renewal = { device_id: approver.deviceId, device_name: 'Phone', device_type: 'browser', persist: 'persist' };
    const kept = await approver.ask(site.one, { method: 'POST', path: '/api/auth/device-session', body: renewal });
    expect(kept.body).toMatchObject({ persist: 'once' });
    const newest = signedIn(approver.user, cookieOf(kept), kept.body as SessionAnswer);
    const refreshed = await newest.ask(site.two, { method: 'POST', path: '/api/auth/refresh' });
    for (const { body } of [kept, refreshed]) {
      expect((body as SessionAnswer).session_expires_at).toBeLessThanOrEqual(first.endsAt);
    }
  });

  test('lets nobody in any more in its last seconds', async () => {
    const last = await endingDevice(randomUser(), 4);
    const asked = await ask(site.one);
    expect((await last.ask(site.one, approval(asked))).status).toBe(200);
    expectProblem(await poll(site.two, asked), 'access_denied');
  });

  test('is offered what it can grant, by the request and by the page', async () => {
    const [once, lasting] = [await site.signIn(undefined, { persist: 'once' }), await site.signIn()];
    const asked = await ask(site.one);
    const query = `request_id=${asked.requestId}&approval_code=${asked.code}`;
    const offers = async (by: SignedIn) => (await by.ask(site.two, { path: `/api/auth/qr/request?${query}` })).body;
    expect(await offers(once)).toMatchObject({ allowed_persist: ['once'], allowed_scopes: ['guest', 'full'] });
    expect(await offers(lasting)).toMatchObject({ allowed_persist: ['once', 'persist'] });
    const pageFor = async (by: SignedIn) =>
      (await by.ask(site.one, { path: `/link/plain?r=${asked.requestId}&c=${asked.code}` })).text;
    expect(await pageFor(once)).not.toContain('value="persist"');
    expect(await pageFor(lasting)).toContain('value="persist"');
  });
});

test('a lasting device lets others in for good, and once for the whole hour', async () => {
  const laptop = await site.signIn();
  const [forGood, once] = [await ask(site.one), await ask(site.one)];
  await laptop.ask(site.two, approval(forGood, { persist: 'persist' }));
  await laptop.ask(site.two, approval(once, { persist: 'once' }));
  const [lasting, short] = [sessionIn(await poll(site.one, forGood)), sessionIn(await poll(site.one, once))];
  expect(lasting.persist).toBe('persist');
  expect(lasting.session_expires_at - Date.now()).toBeGreaterThan(167 * 3_600_000);
  expect(short.persist).toBe('once');
  expect(short.session_expires_at - Date.now()).toBeGreaterThan(3_500_000);
});

test('an approver who lasted at the approval, and does not when the device comes, has approved nothing', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one);
  expect((await laptop.ask(site.two, approval(asked, { persist: 'persist' }))).status).toBe(200);
  await serviceOf(site.broker).mint({
    ...{ subject: laptop.user, meta: laptop.deviceId, persist: 'once', ttl_seconds: 600, sliding: false },
  });
  expectProblem(await poll(site.one, asked), 'access_denied');
  const labels = (await serviceOf(site.broker).list(laptop.user)).map(({ label }) => label);
  expect(labels).not.toContain('Phone');
});

test('who has just logged in grants what it could mint itself', async () => {
  const [login, asked] = [await site.logIn(), await ask(site.one)];
  expect((await login.ask(site.two, approval(asked, { persist: 'persist' }))).status).toBe(200);
  expect(sessionIn(await poll(site.one, asked)).persist).toBe('persist');
});

describe('behind an edge, which says nothing about persistence', () => {
  test('a session that is not renewed approves its like alone, and one that lasts approves both', async () => {
    const [once, lasting] = [await site.signIn(undefined, { persist: 'once' }), await site.signIn()];
    const asked = await ask(edge);
    const forGood = approval(asked, { persist: 'persist' });
    expectProblem(await request(edge, { ...forGood, headers: byEdge(once) }), 'tier_exceeded');
    expect((await request(edge, { ...forGood, headers: byEdge(lasting) })).status).toBe(200);
    expect(sessionIn(await poll(edge, asked)).persist).toBe('persist');

    const another = await ask(edge);
    expect((await request(edge, { ...approval(another), headers: byEdge(once) })).status).toBe(200);
    const { session_expires_at: endsAt } = sessionIn(await poll(edge, another));
    expect(endsAt).toBeLessThanOrEqual(once.answer?.session_expires_at ?? 0);
  });

  test('while the broker cannot be asked nobody is approved for good, and what is offered is once', async () => {
    const [lasting, asked] = [await site.signIn(), await ask(edge)];
    door.answer('GET /v1/sessions', async () => ({ status: 503, body: {} }));
    const headers = byEdge(lasting);
    expectProblem(await request(edge, { ...approval(asked, { persist: 'persist' }), headers }), 'broker_unavailable');
    const path = `/api/auth/qr/request?request_id=${asked.requestId}&approval_code=${asked.code}`;
    expect((await request(edge, { path, headers })).body).toMatchObject({ allowed_persist: ['once'] });
    expect((await poll(edge, asked)).status).toBe(202);
    expect((await request(edge, { ...approval(asked), headers })).status).toBe(200);
  });

  test('a device that the broker has no session of approves nobody for good', async () => {
    const user = randomUser();
    const unknown = { ...signedIn(user, '', null), deviceId: 'unknown-0001' };
    const forGood = approval(await ask(edge), { persist: 'persist' });
    expectProblem(await request(edge, { ...forGood, headers: byEdge(unknown) }), 'tier_exceeded');
  });
});

describe('with the development identity', () => {
  let dev: ReplicaProcess;
  beforeAll(async () => {
    dev = await site.startReplica({ APP_IDENTITY: 'dev' });
  });

  test('a device that says what it is approves for good, and one with a session what that session has', async () => {
    const laptop = makeDevice({ user: randomUser(), name: 'Laptop' });
    const asked = await ask(dev);
    const forGood = { ...approval(asked, { persist: 'persist' }), headers: laptop.headers };
    expect((await request(dev, forGood)).status).toBe(200);
    expect(sessionIn(await poll(dev, asked)).persist).toBe('persist');

    const once = await site.signIn(undefined, { persist: 'once' });
    const headers = { 'X-Dev-User': once.user, 'X-Dev-Device': once.deviceId };
    const another = approval(await ask(dev), { persist: 'persist' });
    expectProblem(await request(dev, { ...another, headers }), 'tier_exceeded');
  });
});
