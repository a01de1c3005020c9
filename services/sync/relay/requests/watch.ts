import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Generations, RelayTransfers } from '../generations.ts';
import type { RelayRequest } from './relay-request.ts';

/** A transfer expires a day after the last report; bytes that pass count as one once in this time. */
const KEEP_MS = 3_600_000;

/** Places of readers last some of these. */
const LONGEST_MS = 60_000;

interface WatchParts {
  request: RelayRequest;
  role: 'sender' | 'receiver';
  generations: Generations;
  transfers: RelayTransfers;
  /** Ends the request, with why. */
  end: (why: BatonError) => void;
  /** Bytes so far. */
  moved: () => number;
  /** Renews the reservation of the request; null where it has none. */
  renewPlace: (() => Promise<unknown>) | null;
  everyMs: number;
}

/**
 * As long as a request runs: ends it with its transfer, also where nobody notified it, keeps the transfer from expiring
 * while bytes pass, and renews its reservation. Returns what stops that.
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
        // Without a store nobody knows.
        if (error instanceof BatonError && error.status < 500) end(error);
      });
    },
    Math.min(everyMs, LONGEST_MS),
  );
  return (): void => clearInterval(timer);
}
