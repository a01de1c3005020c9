import type { Redis } from 'ioredis';
import type { LoginRequestView } from '../../shared/contract/modules/signin.ts';
import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem } from '../support/wire.ts';
import { approval, ask, denial, poll } from './parties.ts';

/*
 * Two replicas have clocks that are an hour wrong, one ahead and one behind. Only the store decides when a request is
 * over.
 */

const HOUR_MS = 3_600_000;
const SECONDS = 8;
/** The most messages that go to a stream until one was delivered to it live. */
const MOST_SENT = 50;

let site: SignInSite;
let ahead: ReplicaProcess;
let behind: ReplicaProcess;
let redis: Redis;

/** Makes the clock wrong by code that runs before the replica's own. */
const isWrongBy = (ms: number) => {
  const source = `const right = Date.now; Date.now = () => right() + ${ms};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
};

const storeNowMs = async (): Promise<number> => {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
};

beforeAll(async () => {
  site = await startSignInSite({ APP_QR_REQUEST_TTL_SECONDS: String(SECONDS), APP_LOG_LEVEL: 'info' });
  [ahead, behind] = await Promise.all([site.startReplica(isWrongBy(HOUR_MS)), site.startReplica(isWrongBy(-HOUR_MS))]);
  redis = connectTo(sharedRedisUrl());
});
afterAll(async () => {
  redis.disconnect();
  await site.stop();
});

/** Returns the time by the replica's clock, from its last log line. */
const timeOf = ({ log }: ReplicaProcess): number => Number(/.*"time":(\d+)/s.exec(log())?.[1]);

const both = (): [string, ReplicaProcess, ReplicaProcess][] => [
  ['begun on the one ahead', ahead, behind],
  ['begun on the one behind', behind, ahead],
];

test('their clocks are wrong', async () => {
  await Promise.all([ask(ahead), ask(behind)]);
  expect(timeOf(ahead) - Date.now()).toBeGreaterThan(0.9 * HOUR_MS);
  expect(Date.now() - timeOf(behind)).toBeGreaterThan(0.9 * HOUR_MS);
});

test('a request is open on both until the store says that its time is over, and then on neither', async () => {
  const laptop = await site.signIn();
  for (const [, first, second] of both()) {
    const before = await storeNowMs();
    const asked = await ask(first);
    const after = await storeNowMs();
    const seen = await laptop.ask(second, {
      path: `/api/auth/qr/request?request_id=${asked.requestId}&approval_code=${asked.code}`,
    });
    const { expires_at: endsAt, age_seconds: age } = seen.body as LoginRequestView;
    expect(endsAt).toBeGreaterThanOrEqual(before + SECONDS * 1000);
    expect(endsAt).toBeLessThanOrEqual(after + SECONDS * 1000);
    expect(age).toBeLessThanOrEqual(SECONDS);

    const waiting = poll(second, asked, 25_000);
    // Whichever replica answers, it does not answer too early.
    expectProblem(await waiting, 'login_expired');
    expect(await storeNowMs()).toBeGreaterThanOrEqual(endsAt);
    for (const replica of [first, second]) {
      expectProblem(await poll(replica, asked), 'login_expired');
      expectProblem(await laptop.ask(replica, approval(asked)), 'login_expired');
      expectProblem(await laptop.ask(replica, denial(asked)), 'login_expired');
    }
  }
});

test('one that is approved in time brings its session, approved on the one and fetched on the other', async () => {
  const laptop = await site.signIn();
  for (const [, first, second] of both()) {
    const asked = await ask(first);
    expect((await poll(second, asked)).status).toBe(202);
    expect((await laptop.ask(second, approval(asked))).status).toBe(200);
    const { status, body } = await poll(first, asked, 5_000);
    expect([status, body]).toEqual([200, expect.objectContaining({ status: 'approved', persist: 'once' })]);
  }
});

test('one that is approved and not fetched is over when the store says so, too', async () => {
  const laptop = await site.signIn();
  const asked = await ask(ahead);
  const key = `${site.prefix}:login:{${asked.requestId}}`;
  const endsAt = await redis.hget(key, 'expires');
  await laptop.ask(behind, approval(asked));
  expect(await redis.hget(key, 'expires')).toBe(endsAt);
  // The time of the request ends at once.
  await redis.hset(key, 'expires', await storeNowMs());
  for (const replica of [ahead, behind]) {
    expectProblem(await poll(replica, asked), 'login_expired');
    expectProblem(await laptop.ask(replica, approval(asked)), 'login_expired');
  }
});

test('a session for an hour is made neither longer nor shorter where it is renewed', async () => {
  for (const [, , replica] of both()) {
    const device = await site.signIn(undefined, { persist: 'once' });
    const body = { device_id: device.deviceId, device_name: 'Laptop', device_type: 'browser' };
    const answer = await device.ask(replica, { method: 'POST', path: '/api/auth/device-session', body });
    const { session_expires_at: endsAt } = answer.body as SessionAnswer;
    expect(answer.status).toBe(200);
    expect(Math.abs(endsAt - (device.answer?.session_expires_at ?? 0))).toBeLessThanOrEqual(1_500);
  }
});

test('devices keep their sessions, their rows and their place in the listing', async () => {
  const laptop = await site.signIn();
  const phone = await site.signIn(laptop.user, { device_name: 'Phone' });
  for (const replica of [ahead, behind]) {
    const { body } = await laptop.ask(replica, { path: '/api/auth/sessions' });
    expect((body as { sessions: { name: string }[] }).sessions.map(({ name }) => name).sort()).toEqual([
      'Laptop',
      'Phone',
    ]);
    const { status } = await phone.ask(replica, { method: 'POST', path: '/api/auth/refresh' });
    expect(status).toBe(200);
  }
  await site.broker.kill();
  const listed = await Promise.all(
    [ahead, behind].map((replica) => laptop.ask(replica, { path: '/api/auth/sessions' }).then(({ body }) => body)),
  );
  await site.restartBroker();
  for (const body of listed) expect(body).toMatchObject({ stale: true, sessions: [{}, {}] });
});

test('a program that shows a token of the broker is let in on both, and each says how wrong its clock is', async () => {
  const mac = await site.signIn(undefined, { device_type: 'macos', persist: 'once' });
  const headers = { Authorization: `Bearer ${mac.answer?.access_token}` };
  for (const [replica, hours, word] of [
    [ahead, 1, 'ahead of'],
    [behind, -1, 'behind'],
  ] as const) {
    const { status } = await fetch(`${replica.url}/api/me`, { headers });
    expect(status).toBe(200);
    const [statusz, metrics] = await Promise.all([
      fetch(`${replica.adminUrl}/statusz`).then((answer) => answer.json()),
      fetch(`${replica.adminUrl}/metrics`).then((answer) => answer.text()),
    ]);
    const warning = expect.stringMatching(
      new RegExp(`^the clock of this machine is 3(600|599) s ${word} that of the store`),
    );
    expect((statusz as { replica: { warnings: string[] } }).replica.warnings).toContainEqual(warning);
    expect(Number(/^baton_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1])).toBeCloseTo(hours * 3_600, -1);
    expect(replica.log()).toMatch(/the clock of this machine is 3(600|599) s/);
    expect((await fetch(`${replica.adminUrl}/readyz`)).status).toBe(200);
  }
});

test('how long an event took is measured by one clock, whichever of the two delivers it', async () => {
  const laptop = await site.signIn();
  const phone = await site.signIn(laptop.user, { device_name: 'Phone' });
  for (const [, sender, receiver] of both()) {
    const latency = async (name: 'sum' | 'count'): Promise<number> => {
      const text = await (await fetch(`${receiver.adminUrl}/metrics`)).text();
      return Number(new RegExp(`^baton_delivery_latency_seconds_${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    };
    const stream = phone.listen(receiver);
    await stream.next('ready');
    const before = { sum: await latency('sum'), count: await latency('count') };
    // A stream that is just being attached reads its first events from the log, and those are not measured.
    for (let sent = 0; sent < MOST_SENT && (await latency('count')) === before.count; sent += 1) {
      const body = { to_device_id: phone.deviceId, content: `how late is it? ${sent}` };
      expect((await laptop.ask(sender, { method: 'POST', path: '/api/message', body })).status).toBe(201);
      await stream.next('message');
    }
    expect(await latency('count')).toBeGreaterThan(before.count);
    expect((await latency('sum')) - before.sum).toBeLessThan(60);
    await stream.stop();
  }
});
