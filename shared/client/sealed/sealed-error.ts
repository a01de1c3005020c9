import { BatonClientError } from '../errors/baton-client-error.ts';

/**
 * Reasons why content is not accepted as genuine, or cannot be sealed. The code is for programs. The sentence is for people:
 * an app can show it unchanged.
 */
export const SEALED_REASONS = {
  unkeyed: 'This device has no keys: link it on a device of this account that has them',
  keys_lost: 'The keys of this device are gone: link it again on another device of this account',
  keys_unusable: 'This browser cannot keep keys: what is sent and received here is not encrypted',
  not_sealed: 'This is not sealed content of Baton',
  newer_version: 'A newer version of Baton sealed this: update this one to read it',
  cannot_open: 'This cannot be opened: it was changed on the way, or was not sealed for this device',
  wrong_signer: 'This does not come from the device it names, and is not shown',
  unknown_key: 'This was sealed under a key that this device does not have yet',
  key_retired: 'This was sealed under a key that has been replaced and deleted',
  not_a_member: 'The device that sent this does not belong to the account',
  too_long: 'This is longer than what can be sent',
  too_old: 'This was sealed too long ago to be taken',
  record_damaged: 'The file was changed on the way, or is not complete',
  bad_ring: 'The list of devices with keys is not valid, and is not used',
  bad_guests: 'No device of this account signed the list of guests that the service shows: it is not used',
  devices_disagree:
    'Your devices disagree about who belongs to this account: link this device again on one that you trust',
  rotation_due: 'A device was removed: nothing is sealed until the key of the account is replaced',
  ring_moved: 'Another device changed the list of devices at the same time: try again',
  link_again: 'This device was away for too long: link it again on another device of this account',
  ring_full: 'This account has as many devices with keys as it can have: remove one first',
  other_origin: 'This code is of another service',
  bad_code: 'This is not a sign-in code of Baton, or a part of it is missing',
  other_keys: 'The keys of the device are not those in its code: do not let it in',
  bad_grant: 'The approval does not fit this device, and is not taken',
  wrong_digits: 'These are not the digits that the new device shows',
  invite_over: 'The digits were wrong three times: invite the device again',
  bad_words: 'These are not the recovery words of this account: look for a word that is wrong or in another place',
  words_moved: 'Other recovery words were made meanwhile: these do not count',
  words_over: 'These recovery words were not renewed in time: they prove nothing that the service still has',
} as const;

/** A reason why content is not accepted as genuine, or cannot be sealed. */
export type SealedReason = keyof typeof SEALED_REASONS;

/** Makes the error that all functions of `@baton/client/sealed` throw; `code` is a {@link SealedReason}. */
export function sealedError(reason: SealedReason, cause?: unknown): BatonClientError {
  return new BatonClientError(reason, SEALED_REASONS[reason], cause === undefined ? {} : { cause });
}
