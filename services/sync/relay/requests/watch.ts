import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Generations, RelayTransfers } from '../generations.ts';
import type { RelayRequest } from './relay-request.ts';

/** How often passing bytes count as a report of the transfer, which expires a day after the last report. */
const KEEP_MS = 3_600_000;

/** Longest time between two renewals; the reservations of readers last a few of these. */
const LONGEST_MS = 60_000;

interface WatchParts {
  request: RelayRequest;
  role: 'sender' | 'receiver';
  generations: Generations;
  transfers: RelayTransfers;
  /** Ends the request with this error. */
  end: (why: BatonError) => void;
  /** Returns the bytes moved so far. */
  moved: () => number;
  /** Renews the reservation of the request; null when it has none. */
  renewPlace: (() => Promise<unknown>) | null;
  everyMs: number;
}

/**
 * Watches a request while it runs: ends it with its transfer, even if nobody notified it, keeps the transfer from
 * expiring while bytes pass, and renews its reservation. Returns a function that stops the watch.
 */
export function watch({ request, role, generations, transfers, end, moved, renewPlace, everyMs }: WatchParts) {
  let kept = { atMs: Number.NEGATIVE_INFINITY, bytes: 0 };
  const check = async () => {
    await generations.known(request, role);
    if (moved() > kept.bytes && performance.now() - kept.atMs >= KEEP_MS) {
      await transfers.keep(request.asker, request.file);
      kept = { atMs: performance.now(), bytes: moved() };
    }
    await renewPlace?.();
  };
  const timer = setInterval(
    () => {
      check().catch((error: unknown) => {
        // Without a store the state of the transfer is unknown.
        if (error instanceof BatonError && error.status < 500) end(error);
      });
    },
    Math.min(everyMs, LONGEST_MS),
  );
  return (): void => clearInterval(timer);
}
