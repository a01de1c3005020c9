import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Caller } from '../identity/caller.ts';
import { makeSeen } from '../identity/seen.ts';

/** Devices whose first request here was noted. A forgotten one costs one more command. */
const NOTED_DEVICES = 10_000;

interface ClaimsParts {
  /** Writes a fact that becomes due, `atMs` by the store's clock. */
  schedule: (account: string, job: string, atMs: number) => Promise<void>;
  settle: (account: string, job: string) => Promise<void>;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  storeNowMs: () => Promise<number>;
  /** Whether the device has an open stream. */
  hasStream: (account: string, deviceId: string) => Promise<boolean>;
  /** Signs the device out. */
  remove: (removal: { account: string; deviceId: string; sessionId: null; reason: 'revoked' }) => Promise<boolean>;
  onFailure: (task: string, error: unknown) => void;
}

const PREFIX = 'claim:';
const jobOf = (deviceId: string): string => PREFIX + deviceId;

/**
 * A session that was handed to a poll whose answer got lost belongs to nobody: a device that makes no request within two
 * minutes is signed out again. Written down before the session is made, so that none escapes.
 */
export function makeClaims({ schedule, settle, scheduleDue, storeNowMs, hasStream, remove, onFailure }: ClaimsParts) {
  const delayMs = LIMITS.claimSeconds * 1000;
  const noted = makeSeen(NOTED_DEVICES);
  return {
    async expect(account: string, deviceId: string): Promise<void> {
      await scheduleDue(account, delayMs);
      await schedule(account, jobOf(deviceId), (await storeNowMs()) + delayMs);
    },

    /** A device made a request, or renewed its session: it has reached it. */
    use({ account, deviceId }: Pick<Caller, 'account' | 'deviceId'>): void {
      const key = `${account} ${deviceId}`;
      if (deviceId === null || noted.has(key)) return;
      noted.add(key);
      settle(account, jobOf(deviceId)).catch((error: unknown) => {
        noted.delete(key);
        onFailure('note claim', error);
      });
    },

    /** What the due mechanism runs. A fact is also there when the store lost that it was settled. */
    async check(account: string, job: string): Promise<boolean> {
      const deviceId = job.slice(PREFIX.length);
      const isUsed = noted.has(`${account} ${deviceId}`) || (await hasStream(account, deviceId));
      if (!isUsed) await remove({ account, deviceId, sessionId: null, reason: 'revoked' });
      await settle(account, job);
      return true;
    },
  };
}
