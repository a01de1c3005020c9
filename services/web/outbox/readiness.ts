import type { BatonClient } from '../../../shared/client/index.ts';
import { type Shared, shared } from '../engine/shared-state.ts';
import { isStillHere, type SignedIn } from '../session/entry.ts';
import { failureOf, verdictOf } from './verdict.ts';

/** What the store cannot do neither can what asks it first: an installation's auth broker may share it. */
const truthOf = (code: string): string =>
  shared.peek().isDegraded && code === 'broker_unavailable' ? 'store_unavailable' : code;

/**
 * Whether the service can take something now. What it cannot take is not tried: an attempt whose answer is lost may have arrived,
 * and can be repeated for a few minutes only, so that one made for nothing costs somebody a question later.
 */
export function makeReadiness({ client, entry }: { client: BatonClient; entry: SignedIn }) {
  let mustAsk = false;
  let asking: Promise<string | null> | null = null;

  /** Reads from the store, and changes nothing. */
  async function ask(): Promise<string | null> {
    try {
      await client.devices.listPresence({ retries: 0 });
      mustAsk = false;
      return null;
    } catch (error) {
      const failure = failureOf(error);
      mustAsk = true;
      if (verdictOf(failure) === 'stop') return 'signed_out';
      return navigator.onLine ? truthOf(failure.code) : 'offline';
    }
  }

  return {
    truthOf,

    /** Why nothing can be sent now; null when something can. */
    async look(): Promise<string | null> {
      if (!(await isStillHere(entry))) return 'signed_out';
      const { connection, isDegraded } = shared.peek();
      if (navigator.onLine && connection === 'online' && !isDegraded && !mustAsk) return null;
      asking ??= ask().finally(() => {
        asking = null;
      });
      return asking;
    },

    /** An attempt failed: the next one asks first. */
    askFirst(): void {
      mustAsk = true;
    },

    /** Calls `again` whenever something may have become possible: the stream is open, the store is back, there is a network. */
    watch(again: () => void): void {
      let before: Pick<Shared, 'connection' | 'isDegraded'> = shared.peek();
      shared.subscribe(({ connection, isDegraded }) => {
        const isBack = connection === 'online' && before.connection !== 'online';
        const isRestored = before.isDegraded && !isDegraded;
        before = { connection, isDegraded };
        if (isBack || isRestored) again();
      });
      addEventListener('online', again);
      document.addEventListener('visibilitychange', () => {
        if (document.visibilityState === 'visible') again();
      });
    },
  };
}

export type Readiness = ReturnType<typeof makeReadiness>;
