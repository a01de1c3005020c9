import { BatonError } from '../../../shared/contract/errors.ts';
import type { Places, RelayTransfers } from './places.ts';
import type { Running } from './requests.ts';

/** A transfer is over a day after the last word about it; bytes that pass are one in this time. */
const KEEP_MS = 3_600_000;

/** Places of readers last some of these. */
const LONGEST_MS = 60_000;

interface WatchParts {
  places: Places;
  transfers: RelayTransfers;
  role: 'sender' | 'receiver';
  running: Running;
  /** Bytes so far. */
  moved: () => number;
  /** Keeps the place of the request; null where it has none. */
  keepPlace: (() => Promise<unknown>) | null;
  everyMs: number;
}

/**
 * As long as a request runs: ends it with its transfer, whoever failed to tell it, keeps that from being over as long as
 * bytes pass, and keeps its place. Returns what stops that.
 */
export function watch({ places, transfers, role, running, moved, keepPlace, everyMs }: WatchParts): () => void {
  const { asker, file, end } = running;
  let kept = { atMs: Number.NEGATIVE_INFINITY, bytes: 0 };
  const look = async () => {
    await places.known(asker, file, role);
    if (moved() > kept.bytes && performance.now() - kept.atMs >= KEEP_MS) {
      await transfers.keep(asker, file);
      kept = { atMs: performance.now(), bytes: moved() };
    }
    await keepPlace?.();
  };
  const timer = setInterval(
    () => {
      look().catch((error: unknown) => {
        // Without a store nobody knows.
        if (error instanceof BatonError && error.status < 500) end(error);
      });
    },
    Math.min(everyMs, LONGEST_MS),
  );
  return () => clearInterval(timer);
}
