import { LIMITS } from '../../../../shared/contract/limits.ts';
import type { Caller } from '../../identity/caller.ts';
import { makeSeen } from '../../identity/seen.ts';

/** The most devices remembered for having made a request here. A forgotten one costs one more command. */
const MOST_USED = 10_000;

interface ClaimsParts {
  /** Writes a job that is due in `delayMs`. */
  schedule: (account: string, job: string, delayMs: number) => Promise<void>;
  settle: (account: string, job: string) => Promise<void>;
  /** Resolves to whether the device has an open stream. */
  hasStream: (account: string, deviceId: string) => Promise<boolean>;
  /** Signs the device out. */
  remove: (removal: { account: string; deviceId: string; sessionId: null; reason: 'revoked' }) => Promise<boolean>;
  onFailure: (task: string, error: unknown) => void;
}

const PREFIX = 'claim:';
const jobOf = (deviceId: string): string => PREFIX + deviceId;

/**
 * Makes the check that new sessions are used. The answer of a poll may get lost with the session in it, so a device that
 * makes no request within two minutes is signed out again. The job is written before the session is made, so that no
 * session goes unchecked.
 */
export function makeClaims({ schedule, settle, hasStream, remove, onFailure }: ClaimsParts) {
  const used = makeSeen(MOST_USED);
  return {
    /** Expects that the session of this device, which is about to be made, is used within `claimSeconds`. */
    expect: (account: string, deviceId: string): Promise<void> =>
      schedule(account, jobOf(deviceId), LIMITS.claimSeconds * 1000),

    /** Notes that a device made a request or renewed its session, which proves that the session has reached it. */
    use({ account, deviceId }: Pick<Caller, 'account' | 'deviceId'>): void {
      const key = `${account} ${deviceId}`;
      if (deviceId === null || used.has(key)) return;
      used.add(key);
      settle(account, jobOf(deviceId)).catch((error: unknown) => {
        used.delete(key);
        onFailure('settle claim', error);
      });
    },

    /** Runs a check for the sweep of due jobs. The device may be in use, if the store lost the removal of the job. */
    async check(account: string, job: string): Promise<boolean> {
      const deviceId = job.slice(PREFIX.length);
      const isUsed = used.has(`${account} ${deviceId}`) || (await hasStream(account, deviceId));
      if (!isUsed) await remove({ account, deviceId, sessionId: null, reason: 'revoked' });
      await settle(account, job);
      return true;
    },
  };
}
