/** Requests of one account that a replica works on at a time: while one waits for the store, another one computes. */
const AT_ONCE = 2;

/** A request that takes longer waits for something other than this replica, and no longer holds up its account. */
const HELD_MS = 100;

/** The most requests and bytes of an account that may wait: far more than all its devices send when they return at once. */
const MOST_WAITING = 2_000;
const MOST_WAITING_BYTES = 32 * 1024 * 1024;

interface Waiting {
  bytes: number;
  start: (slot: Slot) => void;
}

/** A request's right to be worked on. Its holder must end it, and may end it again. */
export interface Slot {
  end(): void;
}

/** The requests of one account. It exists while there are any. */
interface Line {
  readonly account: string;
  readonly working: Slot[];
  readonly waiting: Waiting[];
  waitingBytes: number;
  timer: NodeJS.Timeout | null;
}

interface AccountQueueParts {
  atOnce?: number;
  heldMs?: number;
  mostWaiting?: number;
  mostWaitingBytes?: number;
}

/**
 * Makes a fair queue by account. A few requests of each account are worked on at a time. The others wait in the line
 * (FIFO) of their account. A newcomer therefore meets only a few requests of another account, however many that account
 * sends. The queue bounds the requests under way, not their rate: a lone account loses nothing.
 */
export function makeAccountQueue(parts: AccountQueueParts = {}) {
  const { atOnce = AT_ONCE, heldMs = HELD_MS } = parts;
  const { mostWaiting = MOST_WAITING, mostWaitingBytes = MOST_WAITING_BYTES } = parts;
  const lines = new Map<string, Line>();

  function begin(line: Line): Slot {
    const slot: Slot = {
      end() {
        const place = line.working.indexOf(slot);
        if (place === -1) return;
        line.working.splice(place, 1);
        goOn(line);
      },
    };
    line.working.push(slot);
    return slot;
  }

  function goOn(line: Line): void {
    const next = line.waiting.shift();
    if (next === undefined) {
      if (line.working.length === 0) lines.delete(line.account);
      return;
    }
    line.waitingBytes -= next.bytes;
    const slot = begin(line);
    watch(line);
    // Requests of other accounts that arrived meanwhile go first.
    setImmediate(next.start, slot);
  }

  /** While requests wait, ends the turns of those at work after `heldMs`, so that the next ones begin. */
  function watch(line: Line): void {
    if (line.timer !== null || line.waiting.length === 0) return;
    const seen = [...line.working];
    line.timer = setTimeout(() => {
      line.timer = null;
      for (const slot of seen) slot.end();
      watch(line);
    }, heldMs).unref();
  }

  return {
    /** Returns the turn of a request that holds `bytes` bytes while it waits; null when no more requests may wait. */
    enter(account: string, bytes = 0): Slot | Promise<Slot> | null {
      const line = lines.get(account);
      if (line === undefined) {
        const first: Line = { account, working: [], waiting: [], waitingBytes: 0, timer: null };
        lines.set(account, first);
        return begin(first);
      }
      if (line.working.length < atOnce) return begin(line);
      if (line.waiting.length >= mostWaiting || line.waitingBytes + bytes > mostWaitingBytes) return null;
      return new Promise((start) => {
        line.waiting.push({ bytes, start });
        line.waitingBytes += bytes;
        watch(line);
      });
    },

    /** Number of accounts with a request at work. */
    get size(): number {
      return lines.size;
    },
  };
}

export type AccountQueue = ReturnType<typeof makeAccountQueue>;
