import { BatonError } from '../../../shared/contract/errors.ts';

/** More commands without an answer than this, and the next is refused: they would only wait in memory. */
const MAX_UNANSWERED = 5_000;

/** So many commands in a row that a part of the store did not answer, and the next are refused without trying. */
const FAILURES_TO_CLOSE = 3;

/** A closed part is tried by one command in this time. */
const TRY_AGAIN_MS = 500;

interface Failing {
  count: number;
  tryAtMs: number;
}

interface GateParts {
  /** Which primary of a cluster answers for this key; null where there is but one, for which `isUp` speaks. */
  partOf: (key: string) => string | null;
  /** False while the whole store is known to be away. */
  isUp: () => boolean;
  /** A part does not answer any more. */
  onClosed?: () => void;
  now?: () => number;
}

/** What `enter` gives, to be called when the command is over: whether the store answered, with whatever words. */
export type Leave = (answered: boolean) => void;

/**
 * Decides before each command whether it is worth sending, so that nothing queues up behind a stall. Where the store
 * has several primaries, one that does not answer closes only its own accounts. Refuses with `store_unavailable`.
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
    // This one tries; the others wait for what becomes of it.
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
