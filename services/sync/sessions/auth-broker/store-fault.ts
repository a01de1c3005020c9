import { BatonError } from '../../../../shared/contract/errors.ts';

/** How deep causes lie: the refusal of a breaker, the failure before it, the answer of the broker. */
const DEEPEST = 4;

/** The auth broker has answered, and said that it cannot reach its store. */
function saysStoreIsAway(error: unknown): boolean {
  let cause: unknown = error;
  for (let depth = 0; depth < DEEPEST && cause instanceof BatonError; depth++) cause = cause.extras.cause;
  return (cause as { body?: { code?: unknown } | null } | null | undefined)?.body?.code === 'store_unavailable';
}

/**
 * What a request is refused with. An auth broker that shares its store with this replica is asked before it: without this
 * function a store that is away would be told as a broker that is. Everything inside goes on treating it as the broker's fault,
 * since a device may sign itself out without the broker.
 */
export const makeStoreFault =
  ({ isStoreUp }: { isStoreUp: () => boolean }) =>
  (error: unknown): unknown => {
    if (!(error instanceof BatonError) || error.code !== 'broker_unavailable') return error;
    if (isStoreUp() && !saysStoreIsAway(error)) return error;
    return new BatonError('store_unavailable', undefined, { cause: error });
  };
