import { randomBytes } from 'node:crypto';

/** A bell that was lost costs so much, and the end of a request is told so much later at most. */
const LOOK_AGAIN_MS = 2_000;

/** How long a poll is held that comes while the replica stops: clients ask again at once, and their balancer may be slow. */
const LEAVING_MS = 1_000;

type Wake = 'look' | 'end';

/** The long polls that wait on this replica. */
export function makePolls() {
  const waiting = new Map<string, (wake: Wake) => void>();
  let draining = false;

  return {
    newId: (): string => randomBytes(9).toString('base64url'),

    /**
     * Resolves to `look` after `leftMs`, or as soon as the request may have changed; to `end` when the poll is to be
     * answered now: the client is gone, a newer poll took its place, or the replica stops.
     */
    wait(pollId: string, leftMs: number, signal: AbortSignal): Promise<Wake> {
      if (signal.aborted) return Promise.resolve('end');
      const [ms, after] = draining ? ([LEAVING_MS, 'end'] as const) : ([LOOK_AGAIN_MS, 'look'] as const);
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

    /** From the bus. */
    wake(pollId: string, word: string): void {
      waiting.get(pollId)?.(word === 'end' ? 'end' : 'look');
    },

    /** Hands all polls back as they are: their clients ask again, elsewhere. One that comes here again waits a moment. */
    drain(): void {
      draining = true;
      for (const settle of [...waiting.values()]) settle('end');
    },
  };
}

export type Polls = ReturnType<typeof makePolls>;
