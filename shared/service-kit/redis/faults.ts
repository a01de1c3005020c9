import { BatonError } from '../../contract/errors.ts';
import type { Connection } from './connections.ts';
import { sendUntilAnswered } from './resend.ts';

/**
 * The replies that mean that nothing more can be written, and the text for each. Redis refuses before the first write of a
 * command or script, so nothing was done.
 */
const FULL: readonly (readonly [RegExp, string])[] = [
  [/^OOM\b/, 'The store is full: its memory is used up. What is there can still be read and removed'],
  [/^MISCONF\b/, 'The store is full: it cannot write to its disk. What is there can still be read'],
];

/**
 * The replies that mean "not now" for any command. `BUSY`: another script runs too long. `NOSCRIPT`: the command was sent
 * without the script loader, as a transaction is.
 */
const TRANSIENT = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|UNBLOCKED|NOSCRIPT)\b/;

const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** The replies of a cluster node that cannot reach the others: it answers, but not for the data. */
const SPEAKS_FOR_NOTHING = /^(CLUSTERDOWN|MASTERDOWN)\b/;

/** The error for a slot that is being moved: the client asked both nodes until it gave up, and one always answered. */
const WAS_MOVING = /Last error: ReplyError: TRYAGAIN\b/;

/** Returns whether the part of the store that was asked has answered, whatever the answer. */
export const isAnswer = (error: unknown): boolean =>
  (isReply(error) && !SPEAKS_FOR_NOTHING.test(error.message)) ||
  (error instanceof Error && WAS_MOVING.test(error.message));

/** The client's refusal before it sent anything, because there was no connection. */
const NOT_SENT = /enableOfflineQueue/;

/** Returns whether a command that failed with this error may still have taken effect. */
export const mayHaveRun = (error: unknown): boolean =>
  !isReply(error) && !(error instanceof Error && NOT_SENT.test(error.message));

/**
 * Returns the error of a failed command for modules. Replies of the store that are our own mistake (a wrong type, a script
 * error) stay `internal`. A store without space is `store_full`, and nothing was done. A connection that is lost, slow or
 * refused is `store_unavailable`. It is then unknown whether the command took effect, and a client that sent an
 * `Idempotency-Key` may retry.
 */
export function storeFault(error: unknown): BatonError {
  const text = error instanceof Error ? error.message : String(error);
  const full = isReply(error) ? FULL.find(([reply]) => reply.test(text)) : undefined;
  if (full !== undefined) return new BatonError('store_full', full[1], { cause: error });
  const code = isReply(error) && !TRANSIENT.test(text) ? 'internal' : 'store_unavailable';
  return new BatonError(code, undefined, { cause: error });
}

export const isStoreAway = (error: unknown): boolean =>
  error instanceof BatonError && error.code === 'store_unavailable';

/** Returns whether the store answers but accepts no more data. */
export const isStoreFull = (error: unknown): boolean => error instanceof BatonError && error.code === 'store_full';

/**
 * Sends plain commands, and resends them if their connection is lost, so sending them twice must do no harm. Throws what
 * `storeFault` makes of a failure.
 */
export async function orFault<T>(redis: Connection, send: () => Promise<T>): Promise<T> {
  try {
    return await sendUntilAnswered(redis, send);
  } catch (error) {
    throw storeFault(error);
  }
}

/** Resolves to the Unix ms of the store's clock. */
export async function storeNowMs(redis: Connection): Promise<number> {
  const [seconds, micros] = await orFault(redis, () => redis.time());
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
