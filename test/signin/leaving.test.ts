import type { ReplicaProcess } from '../support/replicas.ts';
import { eventually } from '../broker/support/brokers.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request } from '../support/wire.ts';
import { approval, type Asked, ask, denial, poll } from './parties.ts';

/* A replica leaves while a poll waits there. Other replicas have sign-in by a code switched off. */

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite();
});
afterAll(() => site.stop());

/** Waits until a poll of the request is held on the replica. */
async function held({ requestId }: Asked): Promise<void> {
  const redis = connectTo(sharedRedisUrl());
  await eventually('the poll is held', () => redis.hget(`${site.prefix}:login:{${requestId}}`, 'waiter'));
  redis.disconnect();
}

test('a poll on a replica that leaves is handed back as pending, and the next one on the other goes on', async () => {
  const laptop = await site.signIn();
  const leaving = await site.startReplica();
  const asked = await ask(leaving);
  const waiting = poll(leaving, asked, 25_000);
  await held(asked);
  const before = performance.now();
  const stopped = leaving.stop();
  const answer = await waiting;
  process.stdout.write(`the poll was handed back ${Math.round(performance.now() - before)} ms after SIGTERM\n`);

  expect([answer.status, answer.body]).toEqual([202, { status: 'pending', expires_at: expect.any(Number) }]);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(await stopped).toBe(0);
  const next = poll(site.two, asked, 25_000);
  await laptop.ask(site.one, approval(asked));
  expect(await next).toMatchObject({ status: 200, body: { status: 'approved', user: { user_id: laptop.user } } });
});

describe('switched off', () => {
  let off: ReplicaProcess;
  beforeAll(async () => {
    off = await site.startReplica({ APP_QR_LOGIN_ENABLED: 'false' });
  });

  test('nothing of it is there, for whoever asks, and the clients are told', async () => {
    const laptop = await site.signIn();
    const guest = await site.signIn(laptop.user, { scope: 'guest', device_name: 'Guest' });
    const asked = await ask(site.one);
    const query = `request_id=${asked.requestId}&approval_code=${asked.code}`;
    const link = { path: `/link/plain?r=${asked.requestId}&c=${asked.code}` };
    const form = { request_id: asked.requestId, approval_code: asked.code, decision: 'approve' };
    const body = { device_name: 'Phone', device_type: 'browser' };
    const answers = [
      await request(off, { method: 'POST', path: '/api/auth/qr/start', body }),
      await poll(off, asked),
      await laptop.ask(off, { path: `/api/auth/qr/request?${query}` }),
      await laptop.ask(off, approval(asked)),
      await laptop.ask(off, denial(asked)),
      await guest.ask(off, denial(asked)),
      await laptop.ask(off, link),
      await laptop.ask(off, { method: 'POST', path: '/link', form }),
      // These requests have other faults too.
      await request(off, { method: 'POST', path: '/api/auth/qr/start', body: {} }),
      await request(off, { path: '/api/auth/qr/status' }),
      await request(off, { method: 'POST', path: '/api/auth/qr/approve', body: {} }),
      await guest.ask(off, approval(asked)),
      await request(off, { path: '/link/plain' }),
    ];
    for (const answer of answers) expectProblem(answer, 'feature_disabled');
    const featuresOn = async (replica: ReplicaProcess) =>
      ((await laptop.ask(replica, { path: '/api/me' })).body as { features: { qr: boolean } }).features.qr;
    expect([await featuresOn(off), await featuresOn(site.one)]).toEqual([false, true]);
    // The request is unchanged.
    expect((await poll(site.two, asked)).status).toBe(202);
  });
});

test('without an auth broker nobody is signed in: an approved request says so at each poll', async () => {
  const alone = await site.startReplica({ APP_IDENTITY: 'dev', APP_BROKER_URL: '', APP_BROKER_TOKEN: '' });
  const laptop = makeDevice({ user: randomUser(), name: 'Laptop' });
  const asked = await ask(alone);
  expect((await request(alone, { ...approval(asked), headers: laptop.headers })).status).toBe(200);
  for (let round = 0; round < 3; round++) expectProblem(await poll(alone, asked), 'broker_unavailable');
});
