import type { Drop, DropCause } from './connection.ts';

/**
 * ```
 * stopped -start-> connecting -ready-> open -(connection over)-> waiting | refused -(delay)-> connecting
 *                                       '-superseded-> superseded -start, retryNow-> connecting
 * any -stop-> stopped
 * ```
 */
export type StreamState =
  | { readonly state: 'connecting' }
  /** `ready` has arrived. */
  | { readonly state: 'open' }
  /** The connection is over. The next one follows in `delayMs`. */
  | { readonly state: 'waiting'; readonly delayMs: number; readonly cause: DropCause; readonly error: Drop['error'] }
  /** As `waiting`, but the service refused. Signing in again may help, and then `retryNow`. */
  | { readonly state: 'refused'; readonly delayMs: number; readonly error: Drop['error'] }
  /** This device opened too many streams, and this was the oldest. It stays closed until `start` or `retryNow`. */
  | { readonly state: 'superseded' }
  | { readonly state: 'stopped' };

/** Returns the state between two connections. `delayMs` null: no connection follows by itself. */
export function stateAfter({ cause, error }: Drop, delayMs: number | null): StreamState {
  if (delayMs === null) return { state: 'superseded' };
  return cause === 'refused' ? { state: 'refused', delayMs, error } : { state: 'waiting', delayMs, cause, error };
}
