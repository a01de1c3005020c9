import { adviceOnProxy } from '../../../services/cli/unused-proxy.ts';
import { asApprover, CliError, failureOf } from '../../../services/cli/failure.ts';
import { BatonClientError } from '../../../shared/client/index.ts';
import { ERRORS, type ErrorCode } from '../../../shared/contract/errors.ts';

/* What a terminal prints about failures. */

const refused = (code: string, status: number, retryAfterMs: number | null = null) =>
  new BatonClientError(code, 'Too many requests', { status, retryAfterMs });

test.each([
  [1_000, 'Too many requests. Try again in 1 s.'],
  [34_200, 'Too many requests. Try again in 35 s.'],
  [3_600_000, 'Too many requests. Try again in 1 h 0 min.'],
])('too many requests, come again in %i ms: %s', (retryAfterMs, sentence) => {
  expect(failureOf(refused('rate_limited', 429, retryAfterMs))).toMatchObject({ message: sentence, retryAfterMs });
});

test('no time is made up where the service says none', () => {
  expect(failureOf(refused('rate_limited', 429)).message).toBe('Too many requests');
});

test.each([
  ['login_consumed', 410, 'This link was used already: a device has signed in with it.', 1],
  ['login_expired', 410, 'The time of this link is over. Show a new one on the other device.', 1],
  ['already_decided', 409, 'This link was approved or refused already.', 1],
  ['not_found', 404, 'This link is not known, or it has expired. Show a new one on the other device.', 4],
])('whoever approves hears of %s in words of its own', async (code, status, message, exit) => {
  const failed = asApprover(Promise.reject(refused(code, status)));
  await expect(failed).rejects.toMatchObject({ message, code, status: exit });
  await expect(failed).rejects.toBeInstanceOf(CliError);
});

test('whoever approves hears of anything else as everybody does', async () => {
  const error = refused('network', 0);
  await expect(asApprover(Promise.reject(error))).rejects.toBe(error);
});

const codesOf = (has: (status: number, code: ErrorCode) => boolean): ErrorCode[] =>
  (Object.keys(ERRORS) as ErrorCode[]).filter((code) => has(ERRORS[code].status, code));
const LIMITS_OF_ACCOUNT = ['mailbox_full', 'device_limit', 'transfer_limit'];

test.each(codesOf((status, code) => status === 403 || LIMITS_OF_ACCOUNT.includes(code)))(
  'a script sees by the status 5 that %s was refused',
  (code) => {
    expect(failureOf(refused(code, ERRORS[code].status)).status).toBe(5);
  },
);

test.each(codesOf((status) => status >= 500))(
  'a script sees by the status 6 that the service fails with %s',
  (code) => {
    expect(failureOf(refused(code, ERRORS[code].status)).status).toBe(6);
  },
);

test.each([
  ['20.20.2', {}, '.'],
  ['24.1.0', { HTTPS_PROXY: 'http://a' }, '. HTTPS_PROXY is set but not used: this needs NODE_USE_ENV_PROXY=1.'],
  ['20.20.2', { https_proxy: 'a', NODE_USE_ENV_PROXY: '1' }, 'needs NODE_USE_ENV_PROXY=1 and Node 22.21 or 24.'],
  ['22.21.0', { HTTPS_PROXY: 'a', NODE_USE_ENV_PROXY: '1' }, '.'],
  ['24.5.0', { HTTPS_PROXY: 'a', NODE_OPTIONS: '--use-env-proxy' }, '.'],
])('a proxy that Node %s does not use is named: %j', (version, env, end) => {
  expect(`.${adviceOnProxy(env, version, 'https://baton.example.com')}`.endsWith(end)).toBe(true);
});

const PROXY = { https_proxy: 'http://a', http_proxy: 'http://a' };
test.each([
  ['https://baton.example.com', PROXY, 'https_proxy'],
  ['http://baton.example.com', PROXY, 'http_proxy'],
  ['http://baton.example.com', { https_proxy: 'http://a' }, ''],
  ['https://baton.example.com', { HTTP_PROXY: 'http://a' }, ''],
  ['http://localhost:8080', PROXY, ''],
  ['http://127.0.0.1:8080', PROXY, ''],
  ['http://[::1]:8080', PROXY, ''],
  ['https://baton.example.com', { ...PROXY, NO_PROXY: 'other.org, .example.com' }, ''],
  ['https://baton.example.com', { ...PROXY, no_proxy: 'example.com:443' }, ''],
  ['https://baton.example.com:8443', { ...PROXY, no_proxy: 'example.com:443' }, 'https_proxy'],
  ['https://baton.example.com', { ...PROXY, NO_PROXY: '*' }, ''],
  ['https://notexample.com', { ...PROXY, NO_PROXY: 'example.com' }, 'https_proxy'],
  ['https://[fd00::1]', { ...PROXY, NO_PROXY: 'fd00::1' }, ''],
])('the proxy of %s with %j is %j', (url, env, name) => {
  expect(adviceOnProxy(env, '24.1.0', url).trim().split(' ')[0]).toBe(name);
});
