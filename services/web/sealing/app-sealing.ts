import type { BatonClient, ClipboardEntry } from '../../../shared/client/index.ts';
import { isPassing } from '../engine/repeated.ts';
import type { History } from '../history/history.ts';
import '../texts/key-texts.ts';
import { makeAppFiles } from './app-files.ts';
import { makeKeyAccount } from './key-account.ts';
import { keyState } from './key-state.ts';
import { makeLeaving } from './leaving.ts';
import { makeOpening } from './opening.ts';
import { makeOwnRing, type OwnRing } from './own-ring.ts';
import { makeReceiving } from './receiving.ts';
import { makeRecoveryWords } from './recovery-words.ts';
import { isOpenTo, makeSendingTexts } from './sending-texts.ts';

export interface SealingParts {
  client: BatonClient;
  history: History;
}

const makeClipboard = (ring: OwnRing) => ({
  async setClipboard(text: string): Promise<ClipboardEntry> {
    const entry = await ring.sealing().texts.setClipboard(await ring.current(), text);
    return { ...entry, content: text };
  },

  /** Returns the entry with its content, if this browser can open it. Rejects when the service could not be asked for the ring. */
  async openEntry(entry: ClipboardEntry): Promise<ClipboardEntry> {
    if (entry.sealed === undefined) return entry;
    const { texts } = ring.sealing();
    const found = await ring
      .opened((keyring) => texts.openClipboard(keyring, entry))
      .catch((error: unknown) => {
        if (isPassing(error)) throw error;
        return null;
      });
    // Anybody may have written the text beside it.
    return { ...entry, content: found?.received.kind === 'opened' ? found.received.text : '' };
  },
});

/** Seals and opens for this browser, in any tab. */
export function makeAppSealing(parts: SealingParts) {
  const opening = makeOpening(parts.history);
  const ring = makeOwnRing({ client: parts.client, taken: opening.taken });
  const isKeyed = (): boolean => keyState.peek().kind === 'keyed';
  const isMember = (): boolean => isKeyed() && keyState.peek().isGuest !== true;
  const account = makeKeyAccount(ring);
  return {
    ...makeReceiving({
      ...{ history: parts.history, opening, opened: ring.opened, texts: () => ring.sealing().texts },
      isKeyed,
      acknowledge: (ids) => parts.client.messages.acknowledge(ids),
    }),
    ...makeSendingTexts(parts, ring),
    ...makeClipboard(ring),
    ...makeAppFiles({ client: parts.client, isOpenTo: (id) => isOpenTo(parts.history, id) }, ring),
    ...account,
    ...makeRecoveryWords(ring),
    takeOutGone: makeLeaving({ ...account, isMember }).soon,
    current: ring.current,
    takeGrant: ring.takeGrant,
    namesThisDevice: () => ring.sealing().rings.namesThisDevice(),
  };
}

export type AppSealing = ReturnType<typeof makeAppSealing>;
