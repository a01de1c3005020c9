import { randomBytes } from 'node:crypto';
import { ipKeyGenerator } from 'express-rate-limit';
import { IPV6_SUBNET_BITS } from '../../http/limits/address-limit.ts';

/** How long until a poll reads its request again: the delay after a lost wakeup, or after the request expires. */
const CHECK_AGAIN_MS = 2_000;

/** How long a stopping replica holds a new poll, because clients ask again at once and the load balancer may be slow. */
const LEAVING_MS = 1_000;

/** The most polls that wait on one replica, and for one client address. Each reads the store every two seconds. */
const [MOST, MOST_OF_ADDRESS] = [2_000, 100];

type Wake = 'read' | 'end';

interface PollsParts {
  /** For tests. */
  most?: number;
  mostOfAddress?: number;
}

function makeAddressCounts(most: number, mostOfAddress: number) {
  const ofAddresses = new Map<string, number>();
  let all = 0;
  return {
    enter(address: string): (() => void) | null {
      const key = ipKeyGenerator(address, IPV6_SUBNET_BITS);
      const before = ofAddresses.get(key) ?? 0;
      if (all >= most || before >= mostOfAddress) return null;
      all += 1;
      ofAddresses.set(key, before + 1);
      return () => {
        all -= 1;
        const left = (ofAddresses.get(key) ?? 1) - 1;
        if (left > 0) ofAddresses.set(key, left);
        else ofAddresses.delete(key);
      };
    },
  };
}

/** Makes the list of long polls that wait on this replica. */
export function makePolls({ most = MOST, mostOfAddress = MOST_OF_ADDRESS }: PollsParts = {}) {
  const counts = makeAddressCounts(most, mostOfAddress);
  const waiting = new Map<string, (wake: Wake) => void>();
  let draining = false;

  return {
    newId: (): string => randomBytes(9).toString('base64url'),

    /** Counts a poll that waits. Returns a function that uncounts it; null if too many wait. */
    enter: counts.enter,

    /**
     * Waits for a change. Resolves to `read` when the request must be read again: after `leftMs`, after two seconds, or when
     * it may have changed. Resolves to `end` when the poll must be answered now: the client closed the connection, a newer
     * poll waits, or the replica stops.
     */
    wait(pollId: string, leftMs: number, signal: AbortSignal): Promise<Wake> {
      if (signal.aborted) return Promise.resolve('end');
      const [ms, after] = draining ? ([LEAVING_MS, 'end'] as const) : ([CHECK_AGAIN_MS, 'read'] as const);
      return new Promise((resolve) => {
        const settle = (wake: Wake) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          waiting.delete(pollId);
          resolve(wake);
        };
        const onAbort = () => settle('end');
        const timer = setTimeout(() => settle(after), Math.min(leftMs, ms));
        signal.addEventListener('abort', onAbort);
        waiting.set(pollId, settle);
      });
    },

    /** Takes a wakeup from the bus. */
    wake(pollId: string, word: string): void {
      waiting.get(pollId)?.(word === 'end' ? 'end' : 'read');
    },

    /** Ends all polls as pending, so that their clients ask another replica. A later poll is held for a moment. */
    drain(): void {
      draining = true;
      for (const settle of [...waiting.values()]) settle('end');
    },
  };
}

export type Polls = ReturnType<typeof makePolls>;
