import { CliError } from '../../../services/cli/failure.ts';
import { mayPass, nextTry, pauseFor, tellingFetch } from '../../../services/cli/waiting.ts';
import { BatonClientError } from '../../../shared/client/index.ts';

/* How long a terminal waits at the request of a service. */

const refused = (retryAfterMs: number | null) =>
  new BatonClientError('rate_limited', 'Too many requests', { action: 'retry', status: 429, retryAfterMs });

test.each([
  [null, 5_000],
  [12_000, 12_000],
  [60_000, 60_000],
  [86_400_000, 60_000],
  [Number.MAX_SAFE_INTEGER, 60_000],
])('asked to wait %p ms, a command waits %i ms, and says until when', (askedMs, waitMs) => {
  const now = Date.now();
  const next = nextTry(refused(askedMs), now);
  expect(next.waitMs).toBe(waitMs);
  expect(next.says).toContain(`. The next try is at ${new Date(now + waitMs).toLocaleTimeString()}.`);
});

test.each([
  [refused(null), true],
  [new BatonClientError('rotation_due', 'The key is about to be replaced'), true],
  [new CliError('Two lists of the devices disagree', { code: 'devices_disagree' }), true],
  [new CliError('EIO: i/o error, read', { code: 'source_failed' }), true],
  [Object.assign(new Error('EMFILE'), { errno: -24, code: 'EMFILE' }), true],
  [new CliError('It does not take files', { code: 'unkeyed_receiver' }), false],
  [new BatonClientError('guest_forbidden', 'A guest may not do this', { status: 403 }), false],
  [new BatonClientError('signed_out', 'There is no session', { action: 'sign-in' }), false],
  [new TypeError('a fault of the program'), false],
])('%s may pass: %p', (error, passes) => {
  expect(mayPass(error)).toBe(passes);
});

test('a wait ends with its signal', async () => {
  const over = new AbortController();
  const waited = pauseFor(86_400_000, over.signal);
  over.abort();
  await expect(waited).rejects.toMatchObject({ name: 'AbortError' });
});

test.each([
  ['/api/relay/one/0/0', 503, '86400', 1],
  ['/api/relay/one/0/0', 503, '5', 0],
  ['/api/relay/one/0/0', 200, '86400', 0],
  ['/api/relay/one/0/0', 429, 'Wed, 21 Oct 2026 07:28:00 GMT', 0],
  ['/api/hub/events', 429, '99999999', 1],
  ['/api/auth/qr/status', 429, '30', 1],
  ['/api/devices', 429, '86400', 0],
])(
  '%s that answers %i with Retry-After: %s is said %i times, however often it comes',
  async (path, status, after, times) => {
    const said: string[] = [];
    const fetch = tellingFetch({ note: (text) => said.push(text) }, () =>
      Promise.resolve(new Response('', { status, headers: { 'retry-after': after } })),
    );
    for (let n = 0; n < 3; n += 1) expect((await fetch(`https://baton.example${path}`, {})).status).toBe(status);
    expect(said).toHaveLength(times);
    for (const text of said) expect(text).toMatch(/^The service asks to wait .*, until .*\./);
  },
);
