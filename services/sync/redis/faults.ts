import { BatonError } from '../../../shared/contract/errors.ts';

/** Replies that mean "not now", whatever the command was. `BUSY`: another script runs too long. */
const TRANSIENT = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|OOM|BUSY|UNBLOCKED)\b/;

/**
 * What a failed command means to the rooms. Replies of the store that are our own mistake (a wrong type, a script
 * error) stay `internal`; a connection that is away, slow or refusing is `store_unavailable`. Whether the command
 * took effect is unknown then: that is what operation ids are for.
 */
export function storeFault(error: unknown): BatonError {
  const text = error instanceof Error ? error.message : String(error);
  const isReply = error instanceof Error && error.name === 'ReplyError';
  const code = isReply && !TRANSIENT.test(text) ? 'internal' : 'store_unavailable';
  return new BatonError(code, undefined, { cause: error });
}
