import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { eventually } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { cookieOf, type SignedIn, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, type WireAnswer } from '../support/wire.ts';

/* Renewing a session on two replicas. The grace of the contract is a minute. Here it ends while a test waits. */

let site: SignInSite;
let longer: ReplicaProcess;
beforeAll(async () => {
  site = await startSignInSite({}, { BROKER_GRACE_SECONDS: '4' });
  longer = await site.startReplica({ APP_QR_GUEST_TTL_SECONDS: '7200' });
});
afterAll(() => site.stop());

const ME = { path: '/api/me' };
const refresh = (device: SignedIn, replica: { url: string }) =>
  device.ask(replica, { method: 'POST', path: '/api/auth/refresh' });
const tabOf = (device: SignedIn, answer: WireAnswer): SignedIn =>
  signedIn(device.user, cookieOf(answer), answer.body as SessionAnswer);

test('an old secret works inside the grace, and after it ends the session for whoever has the new one', async () => {
  const old = await site.signIn();
  const [, ...tabs] = await Promise.all(
    [site.one, site.two, site.one, site.two].map(async (replica) => tabOf(old, await refresh(old, replica))),
  );
  // The first use of the new secret starts the clock of the old one.
  for (const tab of tabs) expect((await tab.ask(site.two, ME)).status).toBe(200);
  const inside = await refresh(old, site.two);
  expect(inside.status).toBe(200);
  const newest = tabOf(old, inside);

  const refused = await eventually('the grace is over', async () => {
    const answer = await refresh(old, site.one);
    return answer.status === 200 ? null : answer;
  });
  expectProblem(refused, 'reuse_detected');
  expect(refused.headers['set-cookie']).toBeUndefined();
  expectProblem(await refresh(newest, site.two), 'reuse_detected');
  const me = await eventually('the other replica has heard', async () => {
    const answer = await newest.ask(site.two, ME);
    return answer.status === 200 ? null : answer;
  });
  expectProblem(me, 'session_revoked');
  const device = { method: 'POST', path: '/api/auth/device-session' };
  const body = { device_id: old.deviceId, device_name: 'Laptop', device_type: 'browser' };
  expect((await newest.ask(site.one, { ...device, body })).status).toBeGreaterThanOrEqual(400);
  expect(await serviceOf(site.broker).list(old.user)).not.toContainEqual(
    expect.objectContaining({ meta: old.deviceId }),
  );
});

test('an old secret that is used after its time ends the streams of the session everywhere, and what was believed', async () => {
  const old = await site.signIn();
  const tab = tabOf(old, await refresh(old, site.one));
  for (const replica of [site.one, site.two]) expect((await tab.ask(replica, ME)).status).toBe(200);
  const [here, there] = [tab.listen(site.one), tab.listen(site.two)];
  await Promise.all([here.next('ready'), there.next('ready')]);
  await eventually('the grace is over', async () => ((await refresh(old, site.one)).status === 401 ? true : null));
  const usedAt = performance.now();
  const ends = await Promise.all([here.next('session:revoked'), there.next('session:revoked')]);
  process.stdout.write(
    `reuse: the streams ended after ${ends.map(({ at }) => Math.round(at - usedAt)).join(' and ')} ms\n`,
  );

  for (const { data } of ends) expect(data).toEqual({ reason: 'expired' });
  // They refuse without waiting until the earlier answer of the broker is forgotten.
  for (const replica of [site.one, site.two]) expectProblem(await tab.ask(replica, ME), 'session_revoked');
  await Promise.all([here.stop(), there.stop()]);

  // The device was not signed out. Its owner comes back under the same id, and what is left of the old session does no
  // harm.
  const again = await site.signIn(old.user, { device_id: old.deviceId });
  expect(again.deviceId).toBe(old.deviceId);
  const stream = again.listen(site.two);
  await stream.next('ready');
  // This replica has not learned of it yet.
  const fresh = await site.startReplica();
  for (const left of [old, tab]) expectProblem(await refresh(left, fresh), 'reuse_detected');
  expectProblem(await tab.ask(site.two, ME), 'session_revoked');
  const message = { to: 'Laptop', content: 'still here' };
  await again.ask(site.one, { method: 'POST', path: '/api/message', body: message });
  expect((await stream.next('message')).data.content).toBe('still here');
  expect(stream.events.map(({ name }) => name)).not.toContain('session:revoked');
  await stream.stop();
});

test('a session that its broker was told to end elsewhere ends here when somebody shows it', async () => {
  const device = await site.signIn();
  const stream = device.listen(site.two);
  await stream.next('ready');
  await serviceOf(site.broker).tryRevoke({ subject: device.user, meta: device.deviceId, reason: 'admin' });
  expectProblem(await refresh(device, site.one), 'session_revoked');
  expect((await stream.next('session:revoked')).data).toEqual({ reason: 'expired' });
  expectProblem(await device.ask(site.two, ME), 'session_revoked');
  await stream.stop();
});

test.each(['full', 'guest'] as const)('a once session of scope %s is never longer by any road', async (scope) => {
  const device = await site.signIn(undefined, { persist: 'once', scope });
  const endsAt = device.answer?.session_expires_at ?? 0;
  const renewed = await refresh(device, site.two);
  const tab = tabOf(device, renewed);
  // New sessions would last longer on this replica.
  const reminted = await tab.ask(longer, {
    ...{ method: 'POST', path: '/api/auth/device-session' },
    body: { device_id: device.deviceId, device_name: 'Laptop', device_type: 'browser', persist: 'persist' },
  });

  for (const { body, headers } of [renewed, reminted]) {
    const { persist, scope: given, session_expires_at: end } = body as SessionAnswer;
    expect({ persist, given }).toEqual({ persist: 'once', given: scope });
    // The broker gets the end in whole seconds from now.
    expect(end).toBeLessThanOrEqual(endsAt + 1_500);
    expect(String(headers['set-cookie'])).not.toContain('Max-Age');
  }
});

test('a persist session of a guest lives on as a guest', async () => {
  const guest = await site.signIn(undefined, { scope: 'guest' });
  const tab = tabOf(guest, await refresh(guest, site.two));
  expect(tab.answer).toMatchObject({ scope: 'guest', persist: 'persist' });
  expectProblem(await tab.ask(site.one, { path: '/api/auth/sessions' }), 'guest_forbidden');
});
