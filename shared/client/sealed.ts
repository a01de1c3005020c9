/* The exports of `@baton/client/sealed`: content that only the devices of an account can read. */
export { SEALED_REASONS, sealedError, type SealedReason } from './sealed/sealed-error.ts';
export {
  type DeviceKeys,
  makeDeviceKeys,
  type PublicKeys,
  publicKeysOf,
  tryDeviceKeys,
} from './sealed/keys/device-keys.ts';
export {
  keepDeviceKeys,
  type KeyedAccount,
  type KeyRecord,
  type KeyStore,
  memoryKeys,
} from './sealed/keys/key-store.ts';
export { browserKeys } from './sealed/keys/browser-keys.ts';
export {
  adoptFirstRing,
  adoptRing,
  checkMaySeal,
  disagreeing,
  type Keyring,
  keysOf,
  loadKeyring,
  noteRemoved,
  noteSeen,
  type Taken,
  takeKeys,
} from './sealed/keyring.ts';
export {
  type Account,
  type GoneGuest,
  hashOf,
  type Member,
  memberOf,
  type Ring,
  type RingBody,
  type Signer,
  type WordsSaid,
} from './sealed/ring/ring.ts';
export { type NamedRing, type NamedRings, OtherRing } from './sealed/ring/named-rings.ts';
export type { AccountKey } from './sealed/ring/account-keys.ts';
export { makeFirstRing, makeNextRing, type NewMember, type RingChange } from './sealed/ring/change.ts';
export { type KeysAnswer, readBack, walkChain } from './sealed/ring/chain.ts';
export {
  type Guest,
  type GuestList,
  hashOfGuests,
  type ListPlace,
  type ListProblem,
  placeOf,
  readGuests,
  signGuests,
} from './sealed/ring/guests.ts';
export type { TextCrypto } from './sealed/primitives/text-crypto.ts';
export type { GuestPin } from './sealed/ring/newest-guests.ts';
export {
  hasStated,
  keysOfWords,
  makeWords,
  signStatement,
  type Statement,
} from './sealed/ring/words.ts';
export { WORDS_ID, WORDS_KIND } from './sealed/ring/words-member.ts';
export {
  checkKeys,
  fingerprintOfKeys,
  type LinkCode,
  type LinkKey,
  linkKeyText,
  type LinkParts,
  makeLink,
  makeLinkSecret,
  makeLinkText,
  readLinkCode,
} from './sealed/link/link-code.ts';
export { type Asking, type Grant, openGrant, type SealedGrant, sealGrant } from './sealed/link/grant.ts';
export {
  checkInvite,
  type InviteCheck,
  inviteDigits,
  inviteKeyText,
  inviteSecretIn,
} from './sealed/link/invite.ts';
export type { Opened, Sender } from './sealed/content/body.ts';
export { openMessage, type OpenedMessage, sealMessage } from './sealed/content/messages.ts';
export { openClipboard, type OpenedClipboard, sealClipboard } from './sealed/content/clipboard.ts';
export {
  type Description,
  type OpenedDescription,
  openTransfer,
  plainNameOf,
  type SealedFile,
  sealTransfer,
} from './sealed/content/transfers.ts';
export {
  keyIn,
  keyText,
  type MakeRecordCipher,
  makeRecords,
  openFrom,
  type Opening,
  type ReadBytes,
  RECORD_BYTES,
  recordAt,
  type RecordCipher,
  type RecordKeys,
  recordWith,
  type Records,
  sealAhead,
  sealedSizeOf,
  type SealedParts,
  sealFrom,
} from './sealed/content/records.ts';
export { openSignal, sealSignal, type SignalPath } from './sealed/content/signals.ts';
export type { Bytes } from './sealed/primitives/bytes.ts';
