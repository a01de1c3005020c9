import type { ClipboardEntry } from '../../../shared/contract/modules/clipboard.ts';
import type { Caller } from '../identity/caller.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import { ACCOUNT } from '../redis/keys.ts';
import { clipboardClear, clipboardSet } from './scripts.ts';

interface ClipboardStoreParts extends Db {
  ttlMs: number;
  /** Writes the account into the index of due things. */
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
}

export function makeClipboardStore({ redis, scripts, keys, ttlMs, scheduleDue }: ClipboardStoreParts) {
  const setScript = scripts.define(clipboardSet, { TTL_MS: ttlMs });
  const clearScript = scripts.define(clipboardClear);

  const clear = async (account: string, onlyWhenOver: boolean): Promise<boolean> => {
    const { cleared } = await clearScript(keys.inAccount(account), { onlyWhenOver });
    return cleared;
  };

  return {
    async find(account: string): Promise<ClipboardEntry | null> {
      const stored = await orFault(redis, () => redis.get(keys.clipboard(account)));
      // Two lines with the times precede the JSON, so that they can be read without it.
      return stored === null ? null : (JSON.parse(stored.slice(stored.indexOf('{'))) as ClipboardEntry);
    },

    /** Writes the account into the index of due things, then the entry. Throws `device_required`, `rate_limited`. */
    async set(
      { account: u, deviceId }: Caller,
      { content, sealed, shownName }: { content: string; sealed: string | null; shownName: string },
    ): Promise<{ name: string; updatedAtMs: number; expiresAtMs: number }> {
      // A moment after the end of the entry, so that the sweeper finds it ended.
      await scheduleDue(u, ttlMs + 100);
      return await setScript(
        keys.inAccount(u, {
          operation: keys.call(u, deviceId),
          rate: keys.rate(u, 'clipboard', deviceId),
          accountRate: keys.rate(u, 'clipboard', ACCOUNT),
        }),
        {
          device: deviceId ?? '',
          name: shownName,
          content: sealed === null ? JSON.stringify(content) : `"","sealed":"${sealed}"`,
          bytes: sealed === null ? Buffer.byteLength(content) : Buffer.byteLength(sealed, 'base64url'),
        },
      );
    },

    clear: (account: string) => clear(account, false),

    /** Announces that the lifetime of the entry is over. False when it is not. */
    expire: (account: string) => clear(account, true),
  };
}

export type ClipboardStore = ReturnType<typeof makeClipboardStore>;
