import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { type SignedIn, type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem } from '../support/wire.ts';
import { approval, type Asked, ask, denial, poll } from './parties.ts';

/*
 * Wrong approval codes: who they are counted for, and that they cost nobody else anything (CONTRACT.md, "Signing in by
 * a code").
 */

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite();
});
afterAll(() => site.stop());

const WRONG = 'B'.repeat(22);
const MOST = 5;

const guessed = (asked: Asked): Asked => ({ ...asked, code: WRONG });
const viewOf = ({ requestId, code }: Asked) => ({
  path: `/api/auth/qr/request?request_id=${requestId}&approval_code=${code}`,
});

/** Returns the key that counts the wrong codes of an account for a request. */
const countedAt = ({ user }: SignedIn, { requestId }: Asked): string =>
  `${site.prefix}:login:{${requestId}}:wrong:${encodeURIComponent(user)}`;

/** Sends as many wrong codes as are answered, on both replicas in turn. */
async function guess(by: SignedIn, asked: Asked, times = MOST): Promise<void> {
  for (let i = 0; i < times; i++) {
    expectProblem(await by.ask(i % 2 ? site.one : site.two, approval(guessed(asked))), 'not_found');
  }
}

test('an account that sent five wrong codes for a request is refused there until its time is over, with the right code too', async () => {
  const [guesser, asked] = [await site.signIn(), await ask(site.one)];
  await guess(guesser, asked);
  for (const what of [approval(guessed(asked)), approval(asked), denial(asked), viewOf(asked)]) {
    const refused = await guesser.ask(site.two, what);
    expectProblem(refused, 'rate_limited');
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(120);
    expect(refused.headers['ratelimit']).toBe(`"wrong_codes"; r=0; t=${seconds}`);
    expect(refused.headers['ratelimit-policy']).toBe('"wrong_codes"; q=5; w=120');
  }
});

test('nothing else is locked: not its next request, not the request for another account', async () => {
  const [guesser, laptop] = [await site.signIn(), await site.signIn()];
  const [asked, next] = [await ask(site.one), await ask(site.one)];
  await guess(guesser, asked);
  expect((await guesser.ask(site.two, approval(next))).status).toBe(200);
  expect((await laptop.ask(site.two, approval(asked))).status).toBe(200);
  expect((await poll(site.one, asked)).body).toMatchObject({ status: 'approved', user: { user_id: laptop.user } });
});

test('strangers with accounts of their own, who know a request only by its id, cannot deny it by wrong codes', async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  for (let i = 0; i < 3; i++) await guess(await site.signIn(), asked, MOST);
  expect((await poll(site.two, asked)).status).toBe(202);
  expect((await laptop.ask(site.one, approval(asked))).status).toBe(200);
});

test('wrong codes of a guest are not counted: the owner still approves', async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  const guest = await site.signIn(laptop.user, { scope: 'guest', device_name: 'Guest' });
  for (let i = 0; i < MOST + 2; i++) expectProblem(await guest.ask(site.two, denial(guessed(asked))), 'not_found');
  expect((await laptop.ask(site.one, approval(asked))).status).toBe(200);
});

test('links with wrong codes that another site opens in the browser of the owner count nothing', async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  const headers = { Accept: 'text/html', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
  for (let i = 0; i < MOST + 2; i++) {
    const link = await laptop.ask(site.two, { path: `/link/plain?r=${asked.requestId}&c=x`, headers });
    expect(link.status).toBe(404);
    expectProblem(await laptop.ask(site.one, viewOf(guessed(asked))), 'not_found');
  }
  expect((await laptop.ask(site.one, approval(asked))).status).toBe(200);
});

test('forms with wrong codes that another site sends count nothing', async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  const form = { request_id: asked.requestId, approval_code: WRONG, decision: 'approve' };
  for (let i = 0; i < MOST + 2; i++) {
    const headers = { Origin: 'https://evil.example' };
    expectProblem(await laptop.ask(site.two, { method: 'POST', path: '/link', form, headers }), 'cross_site');
  }
  expect((await laptop.ask(site.one, approval(asked))).status).toBe(200);
});

test('of wrong codes that come at once no more are answered than one after the other', async () => {
  const [guesser, asked] = [await site.signIn(), await ask(site.one)];
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => guesser.ask(i % 2 ? site.one : site.two, approval(guessed(asked)))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([404, 404, 404, 404, 404, 429, 429, 429]);
});

test('wrong codes for a request that never was leave nothing in the store, and count for no other', async () => {
  const [guesser, asked] = [await site.signIn(), await ask(site.one)];
  const invented = { ...asked, requestId: 'A'.repeat(22) };
  for (let i = 0; i < MOST + 2; i++) expectProblem(await guesser.ask(site.two, approval(invented)), 'not_found');
  const redis = connectTo(sharedRedisUrl());
  expect(await redis.exists(countedAt(guesser, invented))).toBe(0);
  expect(await redis.exists(`${site.prefix}:login:{${invented.requestId}}`)).toBe(0);
  redis.disconnect();
  expect((await guesser.ask(site.one, approval(asked))).status).toBe(200);
});

test('what was counted goes with the time of the request, which then says that it is over', async () => {
  const [guesser, asked] = [await site.signIn(), await ask(site.one)];
  await guess(guesser, asked);
  const redis = connectTo(sharedRedisUrl());
  const login = `${site.prefix}:login:{${asked.requestId}}`;
  const expiresAt = Number(await redis.hget(login, 'expires'));
  expect(await redis.pexpiretime(countedAt(guesser, asked))).toBe(expiresAt);
  // By the store's clock the time is over.
  await redis.hset(login, 'expires', 1);
  redis.disconnect();
  expectProblem(await guesser.ask(site.two, approval(asked)), 'login_expired');
});
