import { BatonError } from '../../contract/errors.ts';
import type { Connection } from './connections.ts';
import { sendUntilAnswered } from './resend.ts';

/**
 * Replies that mean that nothing more can be written, and what is said then. Redis refuses before the first write of a
 * command or script, so nothing was done.
 */
const FULL: readonly (readonly [RegExp, string])[] = [
  [/^OOM\b/, 'The store is full: its memory is used up. What is there can still be read and removed'],
  [/^MISCONF\b/, 'The store is full: it cannot write to its disk. What is there can still be read'],
];

/**
 * Replies that mean "not now", whatever the command was. `BUSY`: another script runs too long. `NOSCRIPT`: what is sent
 * without the script loader, as a transaction is.
 */
const TRANSIENT = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|UNBLOCKED|NOSCRIPT)\b/;

const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** A cluster node says so when it cannot reach the others: it speaks, but not for the data. */
const SPEAKS_FOR_NOTHING = /^(CLUSTERDOWN|MASTERDOWN)\b/;

/** A slot that is being moved: the client has asked both ends until it had enough, and each time one answered. */
const WAS_MOVING = /Last error: ReplyError: TRYAGAIN\b/;

/** Whether the part of the store that was asked is there, whatever it said. */
export const isAnswer = (error: unknown): boolean =>
  (isReply(error) && !SPEAKS_FOR_NOTHING.test(error.message)) ||
  (error instanceof Error && WAS_MOVING.test(error.message));

/** The client refused before it sent anything: there was no connection to send it on. */
const NOT_SENT = /enableOfflineQueue/;

/** Whether a command that failed so may have taken effect all the same. */
export const mayHaveRun = (error: unknown): boolean =>
  !isReply(error) && !(error instanceof Error && NOT_SENT.test(error.message));

/**
 * What a failed command means to modules. Replies of the store that are our own mistake (a wrong type, a script
 * error) stay `internal`; a store without room is `store_full`, and nothing was done; a connection that is away, slow or
 * refusing is `store_unavailable`. Whether the command took effect is unknown then: who has sent an `Idempotency-Key`
 * may ask again.
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

/** The store answers, and takes nothing more. */
export const isStoreFull = (error: unknown): boolean => error instanceof BatonError && error.code === 'store_full';

/**
 * Sends plain commands, again if their connection is lost meanwhile: sending them twice must do no harm. Throws what
 * `storeFault` makes of a failure.
 */
export async function orFault<T>(redis: Connection, send: () => Promise<T>): Promise<T> {
  try {
    return await sendUntilAnswered(redis, send);
  } catch (error) {
    throw storeFault(error);
  }
}
