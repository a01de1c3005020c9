import type { CallSettings } from '../api.ts';
import { failureOf } from '../errors/failure.ts';
import type { Keyring } from '../sealed/keyring.ts';
import { pause } from '../time/clock.ts';
import type { GuestList } from './guest-list.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** The longest lifetime that a service can give a `once` session (`APP_QR_GUEST_TTL_SECONDS`). */
const LONGEST_ONCE_MS = 86_400_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;

/** A guest that was let in for a while. */
interface LetIn {
  readonly device_id: string;
  /** When its request ends: without a session by then, it has none. */
  readonly expires_at: number;
  /** When it was let in, by `trustedNow`. */
  readonly from: number;
}

/**
 * Ends the keys of a guest with its session. No response before the approval says how long that session will be: neither the
 * request nor the approval names it, and no response has the setting. The list of sessions has its end as soon as the guest has
 * taken the session, so this waits for that.
 *
 * A service could name a later end than that of the session, so the keys end at the latest a day after the approval.
 */
export async function endWithSession(
  calls: SealingCalls,
  guests: GuestList,
  { device_id, expires_at, from }: LetIn,
  settings: CallSettings,
): Promise<Keyring | null> {
  let pauseMs = FIRST_PAUSE_MS;
  while (calls.serverNow() < expires_at) {
    const end = await calls.caller.call('listSessions', settings).then(
      ({ body }) => body.sessions.find((each) => each.device_id === device_id)?.expires_at ?? null,
      (error: unknown) => {
        const failure = failureOf(error);
        if (settings.signal?.aborted === true || failure.action !== 'retry') throw failure;
        return null;
      },
    );
    if (end !== null) {
      const until = calls.trustedNow() + end - calls.serverNow();
      return guests.endAt(device_id, Math.round(Math.min(until, from + LONGEST_ONCE_MS)));
    }
    await pause(pauseMs, settings.signal);
    pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
  }
  return null;
}
