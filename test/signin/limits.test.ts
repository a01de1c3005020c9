import { type Asked, ask, poll } from './parties.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';

/*
 * How often one client may begin, with the default limits: on both replicas together, from any address that it claims.
 */

const BEGINNINGS = 10;

let site: SignInSite;
let behindProxy: readonly [ReplicaProcess, ReplicaProcess];
beforeAll(async () => {
  // To these two replicas the test is a client like any other. To the others it is the edge.
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '1' });
  const start = () => site.startReplica({ APP_TRUSTED_PROXIES: '127.0.0.0/8' });
  behindProxy = await Promise.all([start(), start()]);
});
afterAll(() => site.stop());

/** Begins this many times, on both replicas in turn. */
async function begin(
  replicas: readonly [ReplicaProcess, ReplicaProcess],
  times: number,
  headersOf: (index: number) => Record<string, string | string[]>,
): Promise<WireAnswer[]> {
  const answers: WireAnswer[] = [];
  for (let index = 0; index < times; index++) {
    const body = { device_name: 'Phone', device_type: 'browser' };
    const what = { method: 'POST', path: '/api/auth/qr/start', headers: headersOf(index), body };
    answers.push(await request(replicas[index % 2] as ReplicaProcess, what));
  }
  return answers;
}

const statusesOf = (answers: WireAnswer[]): number[] => answers.map(({ status }) => status);
const TEN = Array.from({ length: BEGINNINGS }, () => 201);

/** The eleventh and the twelfth are refused, one on each replica. */
function expectOnlyTen(answers: WireAnswer[]): void {
  expect(statusesOf(answers)).toEqual([...TEN, 429, 429]);
  for (const refused of answers.slice(BEGINNINGS)) {
    expectProblem(refused, 'rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // Two limits count here, and the narrower one is shown.
    expect(refused.headers.ratelimit).toMatch(/"qr_start"; r=0\b/);
    expect(refused.headers['ratelimit-policy']).toMatch(/"qr_start"; q=10; w=60\b/);
  }
}

test('a client begins ten times a minute on both replicas together, whatever address it makes up for itself', async () => {
  const headersOf = (index: number) => ({
    'X-Forwarded-For':
      index % 3 === 0 ? [`203.0.113.${index}`, `2001:db8:${index}::1`] : `198.51.100.${index}, 10.0.0.1`,
    Forwarded: `for=198.51.100.${index}`,
    'X-Real-IP': `198.51.100.${index}`,
    'True-Client-IP': `198.51.100.${index}`,
    'CF-Connecting-IP': `198.51.100.${index}`,
  });
  expectOnlyTen(await begin([site.one, site.two], BEGINNINGS + 2, headersOf));
});

test('behind a trusted proxy clients are counted apart, and nothing helps that a client wrote before the proxy', async () => {
  const from = (address: string) => (index: number) => ({
    'X-Forwarded-For': `198.51.100.${index}, ${address}`,
    'X-Real-IP': `198.51.100.${index}`,
  });
  expectOnlyTen(await begin(behindProxy, BEGINNINGS + 2, from('203.0.113.7')));
  expect(statusesOf(await begin(behindProxy, 1, from('203.0.113.8')))).toEqual([201]);
});

test('a customer with a whole IPv6 /56 has no more than one with a single address', async () => {
  const inside = (index: number) => ({
    'X-Forwarded-For': `2001:db8:0:${(0xab00 + index * 17).toString(16)}::${(index + 1).toString(16)}`,
  });
  expectOnlyTen(await begin(behindProxy, BEGINNINGS + 2, inside));
  const next = () => ({ 'X-Forwarded-For': '2001:db8:0:ac00::1' });
  expect(statusesOf(await begin(behindProxy, 1, next))).toEqual([201]);
});

test('a hundred of one address wait; one more is answered at once, and told when to ask again', async () => {
  const [unlimited, leaving] = [await site.startReplica({ APP_RATE_LIMIT_SCALE: '0' }), new AbortController()];
  const waiting = await Promise.all(Array.from({ length: 100 }, () => ask(unlimited)));
  // Like a client, this repeats a poll that ends, for whatever reason. A busy machine ends some early.
  const keepPolling = async ({ requestId, secret }: Asked): Promise<void> => {
    const url = `${unlimited.url}/api/auth/qr/status?request_id=${requestId}`;
    while (!leaving.signal.aborted) {
      const asked = fetch(url, { headers: { 'X-Poll-Secret': secret }, signal: leaving.signal });
      await asked.then((answer) => answer.text()).catch(() => null);
    }
  };
  const polls = waiting.map(keepPolling);
  const late = await ask(unlimited);
  let answer = await poll(unlimited, late, 1_500);
  for (let tries = 0; tries < 20 && answer.headers['retry-after'] === undefined; tries++) {
    answer = await poll(unlimited, late, 1_500);
  }
  leaving.abort();
  await Promise.all(polls);
  expect([answer.status, answer.body]).toEqual([202, expect.objectContaining({ status: 'pending' })]);
  expect(answer.headers['retry-after']).toBe('5');
  let [left, took] = [answer, 0];
  for (let tries = 0; tries < 20 && left.headers['retry-after'] !== undefined; tries++) {
    const before = performance.now();
    left = await poll(unlimited, late, 1_500);
    took = performance.now() - before;
  }
  expect(left.status).toBe(202);
  expect(took).toBeGreaterThan(1_400);
});
