import { BatonClientError } from '../errors/baton-client-error.ts';

/** The sentences about sealing besides `SEALED_REASONS`, for when the service, or another device, keeps it from working. */
const SENTENCES = {
  keys_gone:
    'The service has no keys of this account any more, so nothing is sealed and nothing is sent. If you erased the account, make new keys',
  keys_exist: 'This account is encrypted already: link this device on one that has keys',
  keys_not_supported: 'This service does not pass on what devices seal',
  not_lasting: 'Only a device with full access that stays signed in can make the keys of an account',
  replaces_keys:
    'This would replace the keys of another device: let it in only if you hold that device, and it has lost its keys',
  guest_clipboard:
    'The encrypted clipboard is for devices that have the key of the account, and a guest does not have it',
  for_members: 'This is for devices that have the key of the account, and this one does not have it',
  unkeyed_receiver: 'The other device has no keys: the service could read what is sent to it',
  nobody_can_read: 'No other device of this account has keys: the service could read what is sent to them',
  sent_before: 'This was sent before, and is not shown again: somebody on the way repeated it',
} as const;

/** The code of such a problem. */
export type SealingProblem = keyof typeof SENTENCES;

/** Returns the error with the sentence of this problem. */
export const sealingError = (code: SealingProblem): BatonClientError => new BatonClientError(code, SENTENCES[code]);
