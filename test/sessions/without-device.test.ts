import type { ReplicaProcess } from '../support/replicas.ts';
import { closeRawStreams, openRawStream } from '../support/raw-stream.ts';
import { type SignedIn, type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { serviceOf } from '../broker/support/service.ts';
import { recordStream } from '../support/stream-recorder.ts';
import { expectProblem, request } from '../support/wire.ts';
import { approval, ask, poll } from '../signin/parties.ts';

/*
 * Sessions without a device, which a login leaves. They have no id by which they could be refused, but they end all the
 * same.
 */

const SECRET = 'a-secret-of-the-edge-that-is-long-enough';
const ORIGIN = 'http://localhost:8080';
const ME = { path: '/api/me' };
const LOG_OUT = { method: 'POST', path: '/api/auth/logout' };

let site: SignInSite;
let edge: ReplicaProcess;
beforeAll(async () => {
  site = await startSignInSite();
  edge = await site.startReplica({ APP_IDENTITY: 'edge', APP_EDGE_SECRET: SECRET });
});
afterEach(closeRawStreams);
afterAll(() => site.stop());

const listen = ({ cookie }: SignedIn, { url }: ReplicaProcess, name: string) =>
  recordStream({ baseUrl: url, headers: { Cookie: cookie, Origin: ORIGIN }, query: { name } });

/** Returns what the edge says about such a session, beside its cookie. */
const throughEdge = ({ user, cookie }: SignedIn) => ({
  ...{ 'X-Edge-Secret': SECRET, 'X-Auth-Subject': user, 'X-Auth-Scope': 'full' },
  ...{ Cookie: cookie, Origin: ORIGIN },
});

test('log-out ends the session everywhere at once, with its streams, and no other one of the user', async () => {
  const login = await site.logIn();
  const other = await site.logIn(login.user);
  const [here, there] = [listen(login, site.one, 'Here'), listen(login, site.two, 'There')];
  const others = [listen(other, site.one, 'Other'), listen(other, site.two, 'Other')];
  await Promise.all([here, there, ...others].map((stream) => stream.next('ready')));
  // Both replicas believe what the broker said about both.
  for (const replica of [site.one, site.two]) {
    for (const session of [login, other]) expect((await session.ask(replica, ME)).status).toBe(200);
  }
  expect((await login.ask(site.one, LOG_OUT)).status).toBe(204);

  for (const stream of [here, there]) {
    expect((await stream.next('session:revoked')).data).toEqual({ reason: 'logout' });
  }
  for (const replica of [site.one, site.two]) {
    expectProblem(await login.ask(replica, ME), 'session_revoked');
    expect((await other.ask(replica, ME)).status).toBe(200);
  }
  const clip = { method: 'PUT', path: '/api/clipboard', body: { content: 'on', content_type: 'text/plain' } };
  expect((await other.ask(site.two, clip)).status).toBeLessThan(300);
  for (const stream of others) {
    await stream.next('clipboard');
    expect(stream.events.filter(({ name }) => name === 'ready')).toHaveLength(1);
  }
  await Promise.all([here, there, ...others].map((stream) => stream.stop()));
});

test('a device that signs out the others ends them with their streams, also those that a replica has just heard of', async () => {
  const laptop = await site.signIn();
  const login = await site.logIn(laptop.user);
  const stream = listen(login, site.two, 'Tab');
  await stream.next('ready');
  for (const replica of [site.one, site.two]) expect((await login.ask(replica, ME)).status).toBe(200);
  expect((await laptop.ask(site.one, { method: 'DELETE', path: '/api/auth/sessions' })).status).toBe(200);

  expect((await stream.next('session:revoked')).data).toEqual({ reason: 'revoked' });
  for (const replica of [site.one, site.two]) expectProblem(await login.ask(replica, ME), 'session_revoked');
  await stream.stop();
});

test('a session that another service ended ends everywhere with its streams as soon as it is shown', async () => {
  const login = await site.logIn();
  const service = serviceOf(site.broker);
  const [session] = await service.list(login.user);
  const other = await site.logIn(login.user);
  const [here, there] = [listen(login, site.one, 'Here'), listen(login, site.two, 'There')];
  const others = listen(other, site.two, 'Other');
  await Promise.all([here, there, others].map((stream) => stream.next('ready')));
  const ending = { subject: login.user, session_id: session?.session_id ?? '', reason: 'stolen' };
  expect((await service.tryRevoke(ending)).status).toBe(204);
  expect((await login.ask(site.one, { method: 'POST', path: '/api/auth/refresh' })).status).toBe(401);

  for (const stream of [here, there]) {
    expect((await stream.next('session:revoked')).data).toEqual({ reason: 'expired' });
  }
  for (const replica of [site.one, site.two]) expectProblem(await login.ask(replica, ME), 'session_revoked');
  expect((await other.ask(site.two, ME)).status).toBe(200);
  expect(others.events.map(({ name }) => name)).not.toContain('session:revoked');
  await Promise.all([here, there, others].map((stream) => stream.stop()));
});

describe('behind an edge, which does not say which session it is', () => {
  test('log-out sends every stream without a device away to show who it is, and those of devices go on', async () => {
    const laptop = await site.signIn();
    const [login, other] = [await site.logIn(laptop.user), await site.logIn(laptop.user)];
    const open = (session: SignedIn, name: string) => openRawStream(edge, throughEdge(session), `?name=${name}`);
    const [one, two] = [await open(login, 'One'), await open(other, 'Two')];
    const ofDevice = await openRawStream(edge, { ...throughEdge(laptop), 'X-Auth-Meta': laptop.deviceId });
    await Promise.all([one, two, ofDevice].map((stream) => stream.until(/event: ready\n/)));
    expect((await request(edge, { ...LOG_OUT, headers: throughEdge(login) })).status).toBe(204);

    for (const stream of [one, two]) expect(await stream.ended()).toMatch(/event: reconnect\ndata: {"reason":"rotate"/);
    expectProblem(await login.ask(site.one, ME), 'session_revoked');
    expect((await other.ask(site.one, ME)).status).toBe(200);
    await request(edge, {
      ...{ method: 'PUT', path: '/api/clipboard', headers: throughEdge(other) },
      body: { content: 'on', content_type: 'text/plain' },
    });
    await ofDevice.until(/event: clipboard\n/);
  });

  test('signing out the others spares the session that the cookie shows', async () => {
    const laptop = await site.signIn();
    const [login, other] = [await site.logIn(laptop.user), await site.logIn(laptop.user)];
    const answer = await request(edge, {
      ...{ method: 'DELETE', path: '/api/auth/sessions', headers: throughEdge(login) },
    });
    expect(answer).toMatchObject({ status: 200, body: { revoked: 3 } });
    for (const gone of [laptop, other]) expectProblem(await gone.ask(site.two, ME), 'session_revoked');
    expect((await login.ask(site.two, ME)).status).toBe(200);
  });

  test('an approval counts while there is such a session, and no longer', async () => {
    const login = await site.logIn();
    const [first, second] = [await ask(edge), await ask(edge)];
    for (const asked of [first, second]) {
      expect((await request(edge, { ...approval(asked), headers: throughEdge(login) })).status).toBe(200);
    }
    expect((await poll(edge, first)).status).toBe(200);
    await request(edge, { ...LOG_OUT, headers: throughEdge(login) });
    expectProblem(await poll(edge, second), 'access_denied');
  });
});
