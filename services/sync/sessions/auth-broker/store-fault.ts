import { BatonError } from '../../../../shared/contract/errors.ts';

/** The deepest nesting of causes: the refusal of a breaker, the failure before it, the response of the broker. */
const DEEPEST = 4;

/** Returns what the auth broker answered about its store; null if it answered nothing about it. */
function saidOfStore(error: unknown): 'store_unavailable' | 'store_full' | null {
  let cause: unknown = error;
  for (let depth = 0; depth < DEEPEST && cause instanceof BatonError; depth++) cause = cause.extras.cause;
  const code = (cause as { body?: { code?: unknown } | null } | null | undefined)?.body?.code;
  return code === 'store_unavailable' || code === 'store_full' ? code : null;
}

/**
 * Returns a function that chooses the error of a response. A broker that shares its store with this replica is asked before
 * the store. So without this function an unreachable or full store would be reported as an unreachable broker. All other
 * code goes on treating it as the broker's fault, because a device may sign itself out without the broker.
 */
export const makeStoreFault =
  ({ isStoreUp }: { isStoreUp: () => boolean }) =>
  (error: unknown): unknown => {
    if (!(error instanceof BatonError) || error.code !== 'broker_unavailable') return error;
    const said = saidOfStore(error);
    if (isStoreUp() && said === null) return error;
    return new BatonError(said ?? 'store_unavailable', undefined, { cause: error });
  };
