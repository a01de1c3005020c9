/* The exports of `@baton/client/sealing`: sealed messages, clipboard, files and linking of one device, with the service's calls. */
export { makeSealing, type SealingOptions } from './sealing/sealing.ts';
export { type Asking, type KeyedLink, makeAsking, readKeyedLink } from './sealing/asking.ts';
export { type Access, accessOf, isMemberBy } from './sealing/access.ts';
export { goneMembers } from './sealing/gone.ts';
export { memoryTaken, type TakenText, type TakenTexts } from './sealing/taken.ts';
export type { Deletion, Deletions } from './sealing/deletion.ts';
export type {
  ConfirmGrant,
  FilesToSeal,
  GrantStore,
  KeptGrant,
  Linked,
  ReceivedFiles,
  ReceivedText,
  Recovery,
  Rings,
  SealedFiles,
  SealedOffer,
  SealedTarget,
  SealedTexts,
  Sealing,
  SealingStores,
  SentText,
  TextToSend,
  UnsealedText,
} from './sealing/api.ts';
export type { KeyRequest, LetIn, LetInSettings, Linking, Replaced } from './sealing/linking-api.ts';
