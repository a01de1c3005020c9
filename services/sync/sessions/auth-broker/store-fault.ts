import { BatonError } from '../../../../shared/contract/errors.ts';

/** How deep causes lie: the refusal of a breaker, the failure before it, the answer of the broker. */
const DEEPEST = 4;

/** What the auth broker has answered about its store; null where it said nothing of it. */
function saidOfStore(error: unknown): 'store_unavailable' | 'store_full' | null {
  let cause: unknown = error;
  for (let depth = 0; depth < DEEPEST && cause instanceof BatonError; depth++) cause = cause.extras.cause;
  const code = (cause as { body?: { code?: unknown } | null } | null | undefined)?.body?.code;
  return code === 'store_unavailable' || code === 'store_full' ? code : null;
}

/**
 * What a request is refused with. An auth broker that shares its store with this replica is asked before it: without this
 * function a store that is away would be told as a broker that is, and so would one that is full. Everything inside goes on treating it as the broker's fault,
 * since a device may sign itself out without the broker.
 */
export const makeStoreFault =
  ({ isStoreUp }: { isStoreUp: () => boolean }) =>
  (error: unknown): unknown => {
    if (!(error instanceof BatonError) || error.code !== 'broker_unavailable') return error;
    const said = saidOfStore(error);
    if (isStoreUp() && said === null) return error;
    return new BatonError(said ?? 'store_unavailable', undefined, { cause: error });
  };
