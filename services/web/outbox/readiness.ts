import { type BatonClient, BatonClientError } from '../../../shared/client/index.ts';
import { type Shared, shared } from '../engine/shared-state.ts';
import { isStillHere, type SignedIn } from '../session/entry.ts';
import { failureOf, verdictOf } from './verdict.ts';

/** Names the store if it is the cause: the auth broker of an installation may use the same store. */
const truthOf = (code: string): string =>
  shared.peek().isDegraded && code === 'broker_unavailable' ? 'store_unavailable' : code;

/**
 * Decides whether the service can take an item now. If it cannot, nothing is tried: an attempt without a response may have
 * arrived, and can be retried only for a few minutes. After that the user has to decide.
 */
export function makeReadiness({ client, entry }: { client: BatonClient; entry: SignedIn }) {
  let mustAsk = false;
  let asking: Promise<string | null> | null = null;

  /** Asks the service with a request that reads from the store and changes nothing. */
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

    /** Returns why nothing can be sent now; null when sending is possible. */
    async look(): Promise<string | null> {
      if (!(await isStillHere(entry))) return 'signed_out';
      const { connection, isDegraded } = shared.peek();
      if (navigator.onLine && connection === 'online' && !isDegraded && !mustAsk) return null;
      asking ??= ask().finally(() => {
        asking = null;
      });
      return asking;
    },

    /**
     * Call it at the last moment before something is sent: requests carry the session that the browser has then, which may
     * be another user's by now. Throws BatonClientError `signed_out`.
     */
    async requireSession(): Promise<void> {
      if (await isStillHere(entry)) return;
      throw new BatonClientError('signed_out', 'This browser is signed in as somebody else', {
        ...{ action: 'sign-in', outcome: 'none' },
      });
    },

    /** Makes the next attempt ask first, because one has failed. */
    askFirst(): void {
      mustAsk = true;
    },

    /**
     * Calls `again` when sending may have become possible: the stream is open, the store or the network is back, or the
     * keys of the account have changed.
     */
    watch(again: () => void): void {
      let before: Pick<Shared, 'connection' | 'isDegraded' | 'ringNumber'> = shared.peek();
      shared.subscribe(({ connection, isDegraded, ringNumber }) => {
        const isBack = connection === 'online' && before.connection !== 'online';
        const isRestored = before.isDegraded && !isDegraded;
        const isRingNew = ringNumber !== before.ringNumber;
        before = { connection, isDegraded, ringNumber };
        if (isBack || isRestored || isRingNew) again();
      });
      addEventListener('online', again);
      document.addEventListener('visibilitychange', () => {
        if (document.visibilityState === 'visible') again();
      });
    },
  };
}

export type Readiness = ReturnType<typeof makeReadiness>;
