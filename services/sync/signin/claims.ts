import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Caller } from '../identity/caller.ts';
import { makeSeen } from '../identity/seen.ts';

/** Devices whose first request here was noted. A forgotten one costs one more command. */
const NOTED_DEVICES = 10_000;

interface ClaimsParts {
  /** Writes a fact that becomes due, `atMs` by the store's clock. */
  owe: (account: string, fact: string, atMs: number) => Promise<void>;
  settle: (account: string, fact: string) => Promise<void>;
  noteDue: (account: string, delayMs: number) => Promise<void>;
  storeNowMs: () => Promise<number>;
  /** Signs the device out. */
  remove: (removal: { account: string; deviceId: string; sessionId: null; reason: 'revoked' }) => Promise<boolean>;
  onFailure: (task: string, error: unknown) => void;
}

const factOf = (deviceId: string): string => `claim:${deviceId}`;

/**
 * A session that was handed to a poll whose answer got lost belongs to nobody: a device that makes no request within two
 * minutes is signed out again. Written down before the session is made, so that none escapes.
 */
export function makeClaims({ owe, settle, noteDue, storeNowMs, remove, onFailure }: ClaimsParts) {
  const delayMs = LIMITS.claimSeconds * 1000;
  const noted = makeSeen(NOTED_DEVICES);
  return {
    async expect(account: string, deviceId: string): Promise<void> {
      await noteDue(account, delayMs);
      await owe(account, factOf(deviceId), (await storeNowMs()) + delayMs);
    },

    /** A device made a request: its session has reached it. */
    use({ account, deviceId }: Caller): void {
      const key = `${account} ${deviceId}`;
      if (deviceId === null || noted.has(key)) return;
      noted.add(key);
      settle(account, factOf(deviceId)).catch((error: unknown) => {
        noted.delete(key);
        onFailure('note claim', error);
      });
    },

    /** What the due mechanism runs. */
    async check(account: string, fact: string): Promise<boolean> {
      await remove({ account, deviceId: fact.slice('claim:'.length), sessionId: null, reason: 'revoked' });
      await settle(account, fact);
      return true;
    },
  };
}
