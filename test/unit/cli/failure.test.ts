import { asApprover, CliError, failureOf } from '../../../services/cli/failure.ts';
import { BatonClientError } from '../../../shared/client/index.ts';

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
  ['not_found', 404, 'This link is not known. A link lives for two minutes: show a new one on the other device.', 4],
])('whoever approves hears of %s in words of its own', async (code, status, message, exit) => {
  const failed = asApprover(Promise.reject(refused(code, status)));
  await expect(failed).rejects.toMatchObject({ message, code, status: exit });
  await expect(failed).rejects.toBeInstanceOf(CliError);
});

test('whoever approves hears of anything else as everybody does', async () => {
  const error = refused('network', 0);
  await expect(asApprover(Promise.reject(error))).rejects.toBe(error);
});
