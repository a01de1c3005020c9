import { BatonError } from '../../contract/errors.ts';
import { NoAnswerError } from './no-answer.ts';

/** The known effect of a failed call: `none`, or `unknown` if it may have had one. */
export type Outcome = 'none' | 'unknown';

/** Errors of calls whose earlier attempts may have had an effect, whatever the last response says. */
const afterUnknown = new WeakSet<Error>();

/** The service sends these before it does anything. `store_unavailable` is not one: the store may have got the command. */
const BEFORE_ANYTHING = ['draining', 'broker_unavailable', 'broker_contract', 'relay_busy', 'store_full'];

/** Tells whether the request behind this error may have had an effect, as far as its own response says. */
function mayHaveWorked(error: Error): boolean {
  if (error instanceof NoAnswerError) return true;
  if (!(error instanceof BatonError)) return false;
  const { code: said, status = error.status } = (error.extras.members ?? {}) as { code?: unknown; status?: unknown };
  if (typeof said === 'string' && BEFORE_ANYTHING.includes(said)) return false;
  // A refusal proves that nothing was done; a 5xx, or a success that cannot be read, does not.
  return typeof status !== 'number' || status < 400 || status >= 500;
}

export const outcomeOf = (error: Error): Outcome =>
  afterUnknown.has(error) || mayHaveWorked(error) ? 'unknown' : 'none';

/** Notes that an earlier attempt of the same call may have had an effect. */
export function noteUnknown(error: Error): void {
  afterUnknown.add(error);
}
