import { BatonError } from '../../../shared/contract/errors.ts';
import type { Caller } from './caller.ts';
import { makeSeen } from './seen.ts';

/** How long a row is assumed to exist. It ends by a revocation, which is heard at once, or by a rare loss of data. */
const BELIEVED_MS = 10_000;
const MOST_KNOWN = 20_000;

interface KnownRowsParts {
  hasRow: (account: string, deviceId: string) => Promise<boolean>;
  /** Restores the row if its data can be found. Resolves to whether it did. */
  restoreRow: (caller: Caller) => Promise<boolean>;
}

/**
 * Makes the check that a caller's device has a row, for routes that need a device, so that nobody can act under an id that
 * was never a device's. It returns null if the row is known. Otherwise it resolves, or rejects with `device_required`.
 */
export function makeKnownRows({ hasRow, restoreRow }: KnownRowsParts): (caller: Caller) => Promise<void> | null {
  let known = makeSeen(MOST_KNOWN);
  let sinceMs = performance.now();

  /** Returns whether the row is known. All rows are forgotten together, and then looked up again as callers come. */
  function isKnown(name: string): boolean {
    if (performance.now() - sinceMs > BELIEVED_MS) [known, sinceMs] = [makeSeen(MOST_KNOWN), performance.now()];
    return known.has(name);
  }

  async function look(caller: Caller, deviceId: string, name: string): Promise<void> {
    const isThere = (await hasRow(caller.account, deviceId)) || (await restoreRow(caller));
    if (!isThere) throw new BatonError('device_required', 'This device is not signed in');
    known.add(name);
  }

  return (caller) => {
    const { account, deviceId } = caller;
    if (deviceId === null) return null;
    const name = `${account} ${deviceId}`;
    return isKnown(name) ? null : look(caller, deviceId, name);
  };
}
