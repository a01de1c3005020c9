import { BatonError, ERRORS, isErrorCode } from '../../contract/errors.ts';
import { BatonClientError, type ErrorAction } from './baton-client-error.ts';
import { NoAnswerError } from './no-answer.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** The codes after which there is no longer a session, whatever the request was. */
export const SESSION_OVER = {
  session_revoked: 'revoked',
  reuse_detected: 'revoked',
  session_expired: 'expired',
} as const;

const actionOf = (code: string, status: number): ErrorAction => {
  if (code === 'unauthenticated' || Object.hasOwn(SESSION_OVER, code)) return 'sign-in';
  // A login page of a network, or a proxy during a change, is temporary.
  const isForeign = code === 'unexpected_answer' && status >= 300;
  const isLater = isForeign || status === 429 || status >= 500 || (isErrorCode(code) && ERRORS[code].retry === 'later');
  return isLater ? 'retry' : 'tell-user';
};

function ofService(error: BatonError): BatonClientError {
  const { members = {}, errors, retryAfterSeconds } = error.extras;
  const status = typeof members['status'] === 'number' ? members['status'] : error.status;
  const said = members['code'];
  // A response without a code came from a proxy in front of the service, or does not belong to this contract.
  const isForeign = typeof said !== 'string' && error.code === 'internal';
  const code = isForeign ? 'unexpected_answer' : typeof said === 'string' ? said : error.code;
  return new BatonClientError(code, error.message || code.replaceAll('_', ' '), {
    action: actionOf(code, status),
    outcome: outcomeOf(error),
    status,
    request_id: typeof members['request_id'] === 'string' ? members['request_id'] : null,
    retryAfterMs: retryAfterSeconds === undefined ? null : retryAfterSeconds * 1_000,
    fields: errors ?? [],
    cause: error,
  });
}

/** Turns anything that was thrown into the one error of the library. */
export function failureOf(error: unknown): BatonClientError {
  if (error instanceof BatonClientError) return error;
  if (error instanceof BatonError) return ofService(error);
  if (error instanceof NoAnswerError) {
    return new BatonClientError(error.reason, error.message, { action: 'retry', outcome: 'unknown', cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new BatonClientError('failed', message, { cause: error });
}

/** Returns the error of an aborted call: the reason of the signal, when that says more than `aborted`. */
export function abortedBy(signal: AbortSignal | undefined, outcome: Outcome = 'unknown'): BatonClientError {
  const cause: unknown = signal?.reason;
  if (cause instanceof BatonClientError) return cause;
  const isLate = (cause as Partial<Error> | undefined)?.name === 'TimeoutError';
  return isLate
    ? new BatonClientError('timeout', 'The service did not answer in time', { action: 'retry', outcome, cause })
    : new BatonClientError('aborted', 'The call was cancelled', { outcome, cause });
}

export const signedOut = (): BatonClientError =>
  new BatonClientError('signed_out', 'There is no session: sign in first', { action: 'sign-in' });

/** Tells whether a transfer that stopped here with this error can be resumed, by this program later or by another one. */
export const goesOn = ({ code }: Pick<BatonClientError, 'code'>): boolean =>
  ['aborted', 'timeout', 'signed_out', 'superseded', 'taken'].includes(code);
