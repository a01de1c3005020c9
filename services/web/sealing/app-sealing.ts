import type { BatonClient, ClipboardEntry } from '../../../shared/client/index.ts';
import { keysOf } from '../../../shared/client/sealed.ts';
import type { History } from '../history/history.ts';
import type { Waiting } from '../outbox/queue.ts';
import '../texts/key-texts.ts';
import { makeAppFiles } from './app-files.ts';
import { makeKeyAccount } from './key-account.ts';
import { keyState } from './key-state.ts';
import { makeLeaving } from './leaving.ts';
import { makeOpening } from './opening.ts';
import { makeOwnRing, type OwnRing } from './own-ring.ts';
import { makeReceiving } from './receiving.ts';
import { makeRecoveryWords } from './recovery-words.ts';

export interface SealingParts {
  client: BatonClient;
  history: History;
}

/** A sealed text as it is stored before it is sent, so that each attempt sends the same. */
type Envelope = NonNullable<Waiting['envelope']>;

/** The devices to which the user has allowed messages and files that are not encrypted. */
const OPEN_TO = 'open-to';

const isOpenTo = async (history: History, deviceId: string): Promise<boolean> =>
  (await history.settings.get<string[]>(OPEN_TO, [])).includes(deviceId);

/** Seals messages of the outbox. */
const makeSending = ({ history }: SealingParts, ring: OwnRing) => ({
  /** Seals a message for its receiver, the same way for each attempt. Null: the user wants it to go unencrypted. */
  async seal({ id, to, envelope }: Waiting, text: string): Promise<Envelope | null> {
    const keyring = await ring.current();
    const { epoch } = keyring.ring.body;
    if (keysOf(keyring, to, Date.now()) === null && (await isOpenTo(history, to))) return null;
    if (envelope?.epoch === epoch) return envelope;
    // The text keeps its id, so that a receiver shows it once although both envelopes may arrive.
    return { epoch, sealed: await ring.sealing().texts.seal(keyring, { id, to, text }) };
  },

  post: (to: string, { sealed }: Envelope, settings: { idempotencyKey: string; retries: number }) =>
    ring.sealing().texts.post(to, sealed, settings),

  /** Lets messages and files to this device go unencrypted from now on, because the user has said so. */
  async allowOpen(to: string): Promise<void> {
    const all = await history.settings.get<string[]>(OPEN_TO, []);
    await history.settings.set(OPEN_TO, [...all.filter((id) => id !== to), to]);
  },
});

const makeClipboard = (ring: OwnRing) => ({
  async setClipboard(text: string): Promise<ClipboardEntry> {
    const entry = await ring.sealing().texts.setClipboard(await ring.current(), text);
    return { ...entry, content: text };
  },

  /** Returns the entry with its content, where this browser can open it. */
  async openEntry(entry: ClipboardEntry): Promise<ClipboardEntry> {
    if (entry.sealed === undefined) return entry;
    const { texts } = ring.sealing();
    const found = await ring.opened((keyring) => texts.openClipboard(keyring, entry)).catch(() => null);
    return found?.received.kind === 'opened' ? { ...entry, content: found.received.text } : entry;
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
    ...makeSending(parts, ring),
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
