import { type SignedIn, type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { approval, type Asked, ask, poll } from './parties.ts';

/* The page that asks without script, in cases where something is wrong. */

const ORIGIN = 'http://localhost:8080';
/** What browsers send with a navigation. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite();
});
afterAll(() => site.stop());

const linkOf = ({ requestId, code }: Pick<Asked, 'requestId' | 'code'>) => `/link/plain?r=${requestId}&c=${code}`;
const formOf = ({ requestId, code }: Asked, fields: Record<string, string> = {}) => ({
  ...{ method: 'POST', path: '/link' },
  form: { request_id: requestId, approval_code: code, decision: 'approve', ...fields },
});
const open = (by: SignedIn, asked: Pick<Asked, 'requestId' | 'code'>): Promise<WireAnswer> =>
  by.ask(site.two, { path: linkOf(asked), headers: { Accept: BROWSER } });

/** Sends a form as somebody without a session. */
const sendAsStranger = (asked: Asked, headers: Record<string, string>): Promise<WireAnswer> =>
  request(site.two, { ...formOf(asked), headers: { Origin: ORIGIN, ...headers } });

test('who is not signed in comes back with the code from the login of the broker', async () => {
  const asked = await ask(site.one);
  const away = await request(site.two, { path: linkOf(asked), headers: { Accept: BROWSER } });
  const location = new URL(String(away.headers['location']), ORIGIN);
  const login = await request(site.two, { path: location.pathname + location.search });
  expect([away.status, login.status]).toEqual([302, 302]);
  expect(new URL(String(login.headers['location'])).searchParams.get('return_to')).toBe(ORIGIN + linkOf(asked));
});

test('whose session ended before the form was sent is sent to the login, and nothing is decided', async () => {
  const asked = await ask(site.one);
  const answer = await sendAsStranger(asked, { Accept: BROWSER });
  expect([answer.status, answer.headers['location']]).toEqual([303, '/api/auth/login?return_to=%2Flink']);
  const signedOut = await site.signIn();
  await signedOut.ask(site.one, { method: 'POST', path: '/api/auth/logout' });
  const tooLate = { ...formOf(asked), headers: { Accept: BROWSER } };
  expect((await signedOut.ask(site.two, tooLate)).status).toBe(303);
  expect((await poll(site.one, asked)).status).toBe(202);
});

test.each([
  [{}],
  [{ Accept: '*/*' }],
  [{ Accept: 'application/json' }],
  [{ Accept: 'application/problem+json, text/html' }],
])('a program that sends the form with %j is told in a problem document', async (headers) => {
  expectProblem(await sendAsStranger(await ask(site.one), headers), 'unauthenticated');
});

test('a stranger from another site is refused, not sent anywhere', async () => {
  const headers = { Accept: BROWSER, Origin: 'https://evil.example' };
  expectProblem(await sendAsStranger(await ask(site.one), headers), 'cross_site');
});

test('an app is offered full access alone', async () => {
  const { text } = await open(await site.signIn(), await ask(site.one, { device_type: 'ios' }));
  expect(text).toContain('<input type="hidden" name="scope" value="full">');
  expect(text).not.toContain('value="guest"');
});

test('what cannot be is told on a plain page', async () => {
  const laptop = await site.signIn();
  const guest = await site.signIn(laptop.user, { scope: 'guest', device_name: 'Guest' });
  const asked = await ask(site.one);
  const pages = [await open(guest, asked), await guest.ask(site.one, formOf(asked))];
  await laptop.ask(site.one, approval(asked));
  pages.push(await open(laptop, asked), await laptop.ask(site.two, formOf(asked, { decision: 'deny' })));
  pages.push(
    await open(laptop, { requestId: 'none', code: 'none' }),
    await laptop.ask(site.one, { path: '/link/plain' }),
  );

  expect(pages.map(({ status }) => status)).toEqual([403, 403, 409, 409, 404, 404]);
  for (const { headers, text } of pages) {
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toMatch(/<h1>.+<\/h1>/);
    expect(text).not.toContain('<form');
  }
});

test('nothing is chosen beforehand, each group says what it is about, and the refusal needs no choice', async () => {
  const { text } = await open(await site.signIn(), await ask(site.one));
  expect(text).not.toContain('checked');
  expect(text.match(/<fieldset>\n<legend>[^<]+<\/legend>/g)).toHaveLength(2);
  expect(text.match(/type="radio"[^>]*required/g)).toHaveLength(4);
  expect(text).toContain('value="deny" formnovalidate');
  // A guest may list the devices of the account (contract, tiers).
  expect(text).toContain('it sees your name and your devices');
});

test('a guest keeps the other device out by the form', async () => {
  const guest = await site.signIn(undefined, { scope: 'guest' });
  const asked = await ask(site.one);
  expect((await guest.ask(site.one, formOf(asked, { decision: 'deny' }))).text).toContain('<h1>Denied</h1>');
  expectProblem(await poll(site.two, asked), 'access_denied');
});

test.each<Record<string, string>>([{ decision: 'maybe' }, { scope: 'all' }, { persist: 'ever' }])(
  'a form with %j is refused, and decides nothing',
  async (wrong) => {
    const [laptop, asked] = [await site.signIn(), await ask(site.one)];
    expectProblem(await laptop.ask(site.one, formOf(asked, wrong)), 'invalid_request');
    expect((await poll(site.two, asked)).status).toBe(202);
  },
);

test('a form with a field missing or twice is refused, and decides nothing', async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  const fields = `request_id=${asked.requestId}&approval_code=${asked.code}`;
  for (const text of [fields, 'decision=deny', `${fields}&decision=deny&decision=approve`]) {
    const answer = await laptop.ask(site.one, {
      ...{ method: 'POST', path: '/link', body: Buffer.from(text) },
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expectProblem(answer, 'invalid_request');
  }
  expect((await poll(site.two, asked)).status).toBe(202);
});
