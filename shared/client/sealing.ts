/* What `@baton/client/sealing` has: sealed messages, clipboard and linking of one device, done with the service. */
export { makeSealing, type SealingOptions } from './sealing/sealing.ts';
export { type Asking, type KeyedLink, makeAsking, readKeyedLink } from './sealing/asking.ts';
export { goneMembers } from './sealing/gone.ts';
export { memoryTaken, type TakenTexts } from './sealing/taken.ts';
export type {
  GrantStore,
  KeptGrant,
  KeyRequest,
  Linked,
  Linking,
  ReceivedText,
  Rings,
  SealedTarget,
  SealedTexts,
  Sealing,
  SealingStores,
  SentText,
  TextToSend,
} from './sealing/api.ts';
