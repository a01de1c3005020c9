import { LIMITS } from '../../../shared/contract/limits.ts';
import type { BrokerClient } from '../sessions/broker-client.ts';

interface ClaimsParts {
  broker: Pick<BrokerClient, 'list'> | null;
  /** Writes a fact that becomes due, `atMs` by the store's clock. */
  owe: (account: string, fact: string, atMs: number) => Promise<void>;
  settle: (account: string, fact: string) => Promise<void>;
  noteDue: (account: string, delayMs: number) => Promise<void>;
  storeNowMs: () => Promise<number>;
  /** Whether the device has ever had a stream. */
  wasSeen: (account: string, deviceId: string) => Promise<boolean>;
  /** Signs the device out. */
  remove: (removal: { account: string; deviceId: string; sessionId: string; reason: 'revoked' }) => Promise<boolean>;
}

/**
 * A session that was handed to a poll whose answer got lost belongs to nobody: a device that makes no request within two
 * minutes is signed out again. The broker knows when a session was first used.
 */
export function makeClaims({ broker, owe, settle, noteDue, storeNowMs, wasSeen, remove }: ClaimsParts) {
  const delayMs = LIMITS.claimSeconds * 1000;
  return {
    async expect(account: string, deviceId: string, sessionId: string): Promise<void> {
      await noteDue(account, delayMs);
      await owe(account, `claim:${deviceId}:${sessionId}`, (await storeNowMs()) + delayMs);
    },

    /** What the due mechanism runs. */
    async check(account: string, fact: string): Promise<boolean> {
      const [, deviceId = '', sessionId = ''] = fact.split(':');
      const listed = (await broker?.list(decodeURIComponent(account))) ?? [];
      const session = listed.find(({ session_id: id }) => id === sessionId);
      const isUsed = session === undefined || session.last_active_at > session.created_at;
      if (!isUsed && !(await wasSeen(account, deviceId))) {
        await remove({ account, deviceId, sessionId, reason: 'revoked' });
      }
      await settle(account, fact);
      return true;
    },
  };
}
