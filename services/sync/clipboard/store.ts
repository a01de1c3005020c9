import { randomInt } from 'node:crypto';
import type { ClipboardEntry } from '../../../shared/contract/clipboard.ts';
import type { Operation } from '../http/handler.ts';
import type { Caller } from '../identity/caller.ts';
import type { Redis } from '../redis/connections.ts';
import { orFault } from '../redis/faults.ts';
import { ACCOUNT, type Keys } from '../redis/keys.ts';
import { rememberSeconds } from '../redis/operations.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

interface ClipboardStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  ttlMs: number;
  /** Writes a minute per device; null: unlimited. */
  rateLimit: number | null;
}

/** The one clipboard entry of an account. */
export function makeClipboardStore({ redis, scripts, keys, ttlMs, rateLimit }: ClipboardStoreParts) {
  const setScript = scripts.load('clipboard-set.lua', import.meta.url, 'clipboard');
  const clearScript = scripts.load('clipboard-clear.lua', import.meta.url);

  const clear = async (account: string, onlyWhenOver: boolean): Promise<boolean> => {
    const [cleared] = await clearScript(
      [keys.routes(account), keys.log(account), keys.clipboard(account), keys.due(account)],
      [randomInt(0, 2 ** 32), onlyWhenOver ? '1' : '0'],
    );
    return cleared === '1';
  };

  return {
    async find(account: string): Promise<ClipboardEntry | null> {
      const stored = await orFault(redis.get(keys.clipboard(account)));
      // Two lines with the times come before the JSON, so that they can be read alone.
      return stored === null ? null : (JSON.parse(stored.slice(stored.indexOf('{'))) as ClipboardEntry);
    },

    /** Throws `device_required`, `rate_limited`. */
    async set(
      { account: u, deviceId }: Caller,
      { content, shownName, operation }: { content: string; shownName: string; operation: Operation },
    ): Promise<{ name: string; updatedAtMs: number; expiresAtMs: number }> {
      const [name, updated, expires] = await setScript(
        [
          ...[keys.devices(u), keys.routes(u), keys.log(u), keys.clipboard(u), keys.due(u)],
          ...[keys.operation(u, deviceId, operation.id), keys.rate(u, 'clipboard', deviceId)],
          keys.rate(u, 'clipboard', ACCOUNT),
        ],
        [
          ...[deviceId ?? '', shownName, JSON.stringify(content), Buffer.byteLength(content), ttlMs],
          ...[randomInt(0, 2 ** 32), operation.fingerprint, rememberSeconds(operation), rateLimit ?? 0],
        ],
      );
      return { name: name as string, updatedAtMs: Number(updated), expiresAtMs: Number(expires) };
    },

    clear: (account: string) => clear(account, false),

    /** Announces that the entry has reached the end of its lifetime; false when it has not. */
    expire: (account: string) => clear(account, true),
  };
}

export type ClipboardStore = ReturnType<typeof makeClipboardStore>;
