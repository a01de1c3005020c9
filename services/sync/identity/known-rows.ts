import { BatonError } from '../../../shared/contract/errors.ts';
import type { Caller } from './caller.ts';
import { makeSeen } from './seen.ts';

/** Rows go with a revocation, which is heard at once, or with the store's data, which is rare. */
const BELIEVED_MS = 10_000;
const MOST_KNOWN = 20_000;

interface KnownRowsParts {
  hasRow: (account: string, deviceId: string) => Promise<boolean>;
  /** Puts it back where it can be had; false where it cannot. */
  restoreRow: (caller: Caller) => Promise<boolean>;
}

/**
 * Makes sure that a caller's device has a row before a route that needs a device goes on, so that who carries an id that
 * never was a device's cannot act as one. Null where that is known; else it resolves, or rejects with `device_required`.
 */
export function makeKnownRows({ hasRow, restoreRow }: KnownRowsParts): (caller: Caller) => Promise<void> | null {
  let known = makeSeen(MOST_KNOWN);
  let sinceMs = performance.now();

  /** All are forgotten at once, and asked for again as they come. */
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
