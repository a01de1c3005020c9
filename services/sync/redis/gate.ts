import { BatonError } from '../../../shared/contract/errors.ts';

/** Most commands without an answer. The next is refused, because it would only wait in memory. */
const MAX_UNANSWERED = 5_000;

/**
 * Number of commands in a row without an answer from a part of the store, after which the next are refused without a
 * try.
 */
const FAILURES_TO_CLOSE = 3;

/** How often one command tries a closed part. */
const TRY_AGAIN_MS = 500;

interface Failing {
  count: number;
  tryAtMs: number;
}

interface GateParts {
  /**
   * Returns the primary of a cluster that answers for this key; null when there is only one, for which `isUp` is
   * enough.
   */
  partOf: (key: string) => string | null;
  /** Returns false while the whole store is known to be away. */
  isUp: () => boolean;
  /** Called when a part no longer answers. */
  onClosed?: () => void;
  now?: () => number;
}

/**
 * The function that `enter` returns. Its caller calls it when the command is over, and says whether the store answered
 * anything at all.
 */
export type Leave = (answered: boolean) => void;

/**
 * Makes a gate that decides before each command whether it is worth sending, so that nothing queues up behind a stall.
 * In a store with several primaries, a primary that does not answer closes only its own accounts. Refuses with
 * `store_unavailable`.
 */
export function makeGate({ partOf, isUp, onClosed, now = () => performance.now() }: GateParts) {
  const failing = new Map<string, Failing>();
  let unanswered = 0;

  function note(part: string, answered: boolean): void {
    if (answered) {
      failing.delete(part);
      return;
    }
    const known = failing.get(part) ?? { count: 0, tryAtMs: 0 };
    known.count += 1;
    if (known.count >= FAILURES_TO_CLOSE) known.tryAtMs = now() + TRY_AGAIN_MS;
    failing.set(part, known);
    if (known.count === FAILURES_TO_CLOSE) onClosed?.();
  }

  function isClosed(part: string): boolean {
    const known = failing.get(part);
    if (known === undefined || known.count < FAILURES_TO_CLOSE) return false;
    if (now() < known.tryAtMs) return true;
    // This command tries; the others depend on its result.
    known.tryAtMs = now() + TRY_AGAIN_MS;
    return false;
  }

  return {
    enter(key: string): Leave {
      if (!isUp() || unanswered >= MAX_UNANSWERED) throw new BatonError('store_unavailable');
      const part = partOf(key);
      if (part !== null && isClosed(part)) throw new BatonError('store_unavailable');
      unanswered += 1;
      return (answered) => {
        unanswered -= 1;
        if (part !== null) note(part, answered);
      };
    },
  };
}
