import { BatonClientError } from '../errors/baton-client-error.ts';
import { checkMaySeal, type Keyring, keysOf, noteSeen } from '../sealed/keyring.ts';
import type { KeyStore } from '../sealed/keys/key-store.ts';
import { OtherRing } from '../sealed/ring/named-rings.ts';
import { sealedError } from '../sealed/sealed-error.ts';

/** The problems that another link, an update, or the next ring can solve. */
const PASSING = new Set(['unknown_key', 'newer_version', 'devices_disagree', 'unkeyed', 'keys_gone']);

/** Tells whether content with this problem may be opened later. */
const isPassing = ({ code }: BatonClientError): boolean => PASSING.has(code);

/** Returns a problem of the content. Throws any other error. */
export const problemOf = (error: unknown): BatonClientError => {
  if (error instanceof BatonClientError) return error;
  throw error;
};

/**
 * Makes an attempt, and repeats it with the newest list of guests if the sender is not known: a guest may have come since,
 * or got other keys, and that changes no ring. If that list is not available, the content waits.
 */
export async function withNewest<T>(
  keyring: Keyring,
  newest: () => Promise<Keyring | null>,
  attempt: (keyring: Keyring) => Promise<T>,
): Promise<T> {
  try {
    return await attempt(keyring);
  } catch (error) {
    const { code } = problemOf(error);
    // A guest may have other keys since.
    const isOfGuest = code === 'wrong_signer' && keyring.guests.length > 0;
    if (code !== 'not_a_member' && !isOfGuest) throw error;
    const found = await newest().catch((cause: unknown) => {
      throw sealedError('unknown_key', cause);
    });
    if (found === null) throw error;
    return attempt(found);
  }
}

/**
 * Judges content that could not be opened. A ring that a member names and this device does not have is kept first, with who
 * named it: until this device has that ring, or is without that member, `rings.current` throws `devices_disagree`. So nothing
 * is sealed for a device that a newer ring has removed, and nothing on one of two chains.
 */
export async function judge(
  store: KeyStore,
  keyring: Keyring,
  error: unknown,
): Promise<{ kind: 'waits' | 'refused'; problem: BatonClientError }> {
  const problem = problemOf(error);
  if (problem.cause instanceof OtherRing) await noteSeen(store, keyring, problem.cause);
  return { kind: isPassing(problem) ? 'waits' : 'refused', problem };
}

/**
 * Throws if nothing may be sealed, such as when a removed device has a key in force. A member that is only not listed does
 * not matter: its session expired, and it keeps its place. A guest seals while the list of guests has it.
 */
export function checkReady(keyring: Keyring, now: number): void {
  if (keysOf(keyring, keyring.device_id, now) === null) throw sealedError('unkeyed');
  checkMaySeal(keyring);
}
