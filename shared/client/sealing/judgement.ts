import { BatonClientError } from '../errors/baton-client-error.ts';
import { checkMaySeal, type Keyring } from '../sealed/keyring.ts';
import { memberOf } from '../sealed/ring/ring.ts';
import { sealedError } from '../sealed/sealed-error.ts';

/** The problems that another link, an update, or the next ring can solve. */
const PASSING = new Set(['unknown_key', 'newer_version', 'devices_disagree', 'unkeyed', 'keys_gone']);

/** Tells whether content with this problem may be opened later. */
export const isPassing = ({ code }: BatonClientError): boolean => PASSING.has(code);

/** Returns a problem of the content. Throws any other error. */
export const problemOf = (error: unknown): BatonClientError => {
  if (error instanceof BatonClientError) return error;
  throw error;
};

/**
 * Throws where nothing may be sealed, such as where a removed device has a key in force. A member that is only not listed
 * does not matter: its session expired, and it keeps its place.
 */
export function checkReady(keyring: Keyring): void {
  if (memberOf(keyring.ring, keyring.device_id) === null) throw sealedError('unkeyed');
  checkMaySeal(keyring);
}
