import type { BatonClientOptions, SignedOutReason } from '../api.ts';
import type { SessionStore } from '../session/session.ts';
import { makeSealedFiles } from './files.ts';
import { makeLinking } from './linking.ts';
import type { MakeRecordCipher } from '../sealed/content/records.ts';
import type { ConfirmGrant, Sealing, SealingStores } from './api.ts';
import { makeDeletions } from './deletions.ts';
import { makeRecovery } from './recovery.ts';
import { makeRings } from './rings.ts';
import { makeSealingCalls } from './sealing-calls.ts';
import type { TakenTexts } from './taken.ts';
import { makeTexts } from './texts.ts';

/** The options of `makeSealing`. */
export interface SealingOptions extends SealingStores, Pick<BatonClientOptions, 'baseUrl' | 'fetch' | 'sha256'> {
  readonly session: SessionStore;
  /** The texts and transfers that were shown before. */
  readonly taken: TakenTexts;
  /**
   * Called before an approval is taken that an earlier program has kept. A program that asks its user with `rings.takeGrant`
   * rejects here, and so takes no approval unasked. Default: it is taken unasked.
   */
  readonly confirm?: ConfirmGrant | undefined;
  /**
   * Called when the service says to a call of sealing that the session is over. The session has been removed from its store,
   * so a client with the same store does not hear the reason.
   */
  readonly onEnded?: ((reason: SignedOutReason) => void) | undefined;
  /** Seals the records of files. Default: by WebCrypto. */
  readonly recordCipher?: MakeRecordCipher | undefined;
}

/**
 * Makes sealing for one device: the ring of its account, and texts and files that only the devices in the ring can read. It calls the
 * service itself, as the device whose session it shares with a client.
 */
export function makeSealing({
  taken,
  baseUrl,
  session,
  fetch,
  sha256,
  recordCipher,
  confirm,
  onEnded,
  ...stores
}: SealingOptions): Sealing {
  const calls = makeSealingCalls({ baseUrl, session, fetch, onEnded });
  const rings = makeRings(calls, stores, confirm);
  return {
    rings,
    texts: makeTexts(calls, { store: stores.keys, taken, rings }),
    files: makeSealedFiles({ calls, store: stores.keys, rings, taken, sha256, recordCipher }),
    linking: makeLinking(calls, rings, stores),
    recovery: makeRecovery(calls, rings, stores),
    deletions: makeDeletions(calls, rings),
  };
}
