import { LIMITS } from '../../contract/limits.ts';
import type { Caller } from '../http/caller.ts';
import { type Clock, pause } from '../time/clock.ts';
import type { Run } from '../transfers/transfer-run.ts';

const LOOK_MS = 250;
/** How long the direct path is measured, again and again while it is fast. */
const DIRECT_MS = 5_000;
/** A direct path with this rate is in one local network, and loads nobody else. */
const FAST_BYTES_PER_SECOND = 8 * 1024 * 1024;
/** How long the relay is measured, when it has filled its window. */
const RELAY_MS = 3_000;
/** The relay is taken if it is at least this many times as fast: a change costs some hundred milliseconds. */
const FASTER = 1.25;
/** A transfer that ends sooner stays where it is. */
const WORTH_SECONDS = 10;
const GRACE_MS = 3_000;
const MOST_FILLING_MS = 60_000;
/** A relay that moves nothing for this long is left. */
const STILL_MS = 15_000;

interface Parts {
  run: Run;
  caller: Caller;
  clock: Clock;
  isDirect: () => boolean;
  /** Ends the direct path at a record's border, and begins the relay. */
  toRelay: () => void;
  /** Looks for a direct path again. */
  toDirect: () => void;
}

/**
 * Moves a transfer from a slow direct path to the relay, and back if the relay is slower. The service has to allow it
 * (`features.relay_preferred`). The same bytes are never measured on both paths:
 *
 * direct, 5 s above 8 MiB/s, or nearly done --> direct, measured again
 * direct, slower --> relay, its window fills --3 s, at least 1.25 times as fast--> relay --nothing for 15 s--> direct for good
 *                                            --slower, or the window does not fill--> direct for good
 */
export async function chooseFasterPath({ run, caller, clock, isDirect, ...parts }: Parts): Promise<void> {
  const { signal, meter } = run;
  const left = (): number => meter.now.totalBytes - meter.now.bytes;
  const look = (): Promise<void> => pause(LOOK_MS, signal, clock);

  /** Returns bytes a second over this time; null when it ends before. */
  async function rateOver(ms: number, isOn: () => boolean): Promise<number | null> {
    const [startMs, start] = [clock.now(), meter.now.bytes];
    while (clock.now() - startMs < ms) {
      await look();
      if (!isOn() || meter.now.isPaused) return null;
    }
    return (Math.max(0, meter.now.bytes - start) * 1_000) / (clock.now() - startMs);
  }

  /** Resolves when the direct path is slow, and a transfer of the rest over another one is worth it; to its rate. */
  async function slowRate(windowBytes: number): Promise<number> {
    for (;;) {
      await run.until(isDirect);
      await run.unpaused();
      const rate = await rateOver(DIRECT_MS, isDirect);
      const isLong = rate !== null && left() > WORTH_SECONDS * rate + 2 * windowBytes;
      if (rate !== null && rate < FAST_BYTES_PER_SECOND && isLong) return rate;
    }
  }

  /** Uploads fill the window as fast as the sender can. Only the bytes after that go as fast as the receiver gets them. */
  async function fills(windowBytes: number, rate: number): Promise<boolean> {
    const [startMs, start] = [clock.now(), meter.now.bytes];
    const mostMs = Math.min(MOST_FILLING_MS, (windowBytes / rate) * 1_000 + GRACE_MS);
    while (meter.now.bytes - start < windowBytes && left() > 0) {
      if (clock.now() - startMs > mostMs) return false;
      await look();
    }
    return true;
  }

  async function isFaster(windowBytes: number, rate: number): Promise<boolean> {
    if (!(await fills(windowBytes, rate))) return false;
    for (;;) {
      await run.unpaused();
      const found = await rateOver(RELAY_MS, () => left() > 0);
      if (left() === 0 || (found !== null && found >= FASTER * rate)) return true;
      if (found !== null) return false;
    }
  }

  async function untilStill(): Promise<void> {
    for (;;) {
      await run.unpaused();
      if ((await rateOver(STILL_MS, () => left() > 0)) === 0) return;
      if (left() === 0) await run.until(() => left() > 0);
    }
  }

  const { body } = await run.insist(() => caller.call('getMe', { signal }));
  if (body.features.relay_preferred !== true) return;
  // Each file that is under way has a window.
  const windows = Math.min(run.transfer.file_count, LIMITS.relayFiles);
  const windowBytes = windows * body.limits.relay_window_bytes;
  const rate = await slowRate(windowBytes);
  parts.toRelay();
  await run.until(({ state }) => !isDirect() && state === 'RELAY_ACTIVE');
  if (await isFaster(windowBytes, rate)) await untilStill();
  parts.toDirect();
}
