import type { BatonClient, ClipboardEntry, Message } from '../../../shared/client/index.ts';
import type { History } from '../history/history.ts';
import { isSealed, makeTurns } from '../history/history.ts';
import type { Waiting } from '../outbox/queue.ts';
import '../texts/key-texts.ts';
import { makeAppFiles } from './app-files.ts';
import { makeKeyAccount } from './key-account.ts';
import { keyState } from './key-state.ts';
import { makeOpening } from './opening.ts';
import { makeOwnRing, type OwnRing } from './own-ring.ts';

export interface SealingParts {
  client: BatonClient;
  history: History;
}

type Opening = ReturnType<typeof makeOpening>;

/** A sealed text as it is stored before it is sent, so that each attempt sends the same. */
type Envelope = NonNullable<Waiting['envelope']>;

/** The devices to which the user has allowed messages and files that are not encrypted. */
const OPEN_TO = 'open-to';

const isOpenTo = async (history: History, deviceId: string): Promise<boolean> =>
  (await history.settings.get<string[]>(OPEN_TO, [])).includes(deviceId);

/** Opens messages of the mailbox. */
function makeReceiving({ client, history }: SealingParts, ring: OwnRing, opening: Opening) {
  const inTurn = makeTurns();

  async function receiveNext(message: Message): Promise<boolean> {
    const { texts } = ring.sealing();
    const received = await ring.opened((keyring) => texts.open(keyring, message)).catch(() => null);
    if (received === null || received.kind === 'waits') return history.receive(message);
    if (received.kind === 'refused') await history.receiveRefused(message);
    if (received.kind === 'opened') {
      const keyring = await ring.current();
      await opening.inOneStep({ message, text: received.text }, () => texts.shown(keyring, message));
    }
    return true;
  }

  /**
   * Takes a sealed message. False: it stays in the mailbox, because it cannot be opened now. One after the other, because the
   * same message may come from the stream and from the history at once.
   */
  const receive = (message: Message): Promise<boolean> => inTurn(() => receiveNext(message));

  return {
    receive,

    /** Opens what came while this browser had no key for it, and acknowledges it. */
    async openKept(): Promise<void> {
      if (keyState.peek().kind !== 'keyed') return;
      for (const { ref, thread, at, sealed } of (await history.messages()).filter(isSealed)) {
        const from = { from_device_id: thread, from_name: '' };
        const message = { message_id: ref, ...from, content: '', sealed, created_at: at, redelivered: true };
        if (await receive(message)) await client.messages.acknowledge([ref]);
      }
    },
  };
}

/** Seals messages of the outbox. */
const makeSending = ({ history }: SealingParts, ring: OwnRing) => ({
  /** Seals a message for its receiver, the same way for each attempt. Null: the user wants it to go unencrypted. */
  async seal({ to, envelope }: Waiting, text: string): Promise<Envelope | null> {
    const keyring = await ring.current();
    const { epoch, members } = keyring.ring.body;
    const isKeyed = members.some(({ device_id }) => device_id === to);
    if (!isKeyed && (await isOpenTo(history, to))) return null;
    if (envelope?.epoch === epoch) return envelope;
    return { epoch, sealed: await ring.sealing().texts.seal(keyring, { to, text, devices: await ring.devices() }) };
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
    const said = { text, devices: await ring.devices() };
    const entry = await ring.sealing().texts.setClipboard(await ring.current(), said);
    return { ...entry, content: text };
  },

  /** Returns the entry with its content, where this browser can open it. */
  async openEntry(entry: ClipboardEntry): Promise<ClipboardEntry> {
    if (entry.sealed === undefined) return entry;
    const { texts } = ring.sealing();
    const received = await ring.opened((keyring) => texts.openClipboard(keyring, entry)).catch(() => null);
    return received?.kind === 'opened' ? { ...entry, content: received.text } : entry;
  },
});

/** Seals and opens for this browser, in any tab. */
export function makeAppSealing(parts: SealingParts) {
  const opening = makeOpening(parts.history);
  const ring = makeOwnRing({ client: parts.client, taken: opening.taken });
  return {
    ...makeReceiving(parts, ring, opening),
    ...makeSending(parts, ring),
    ...makeClipboard(ring),
    ...makeAppFiles({ client: parts.client, isOpenTo: (id) => isOpenTo(parts.history, id) }, ring),
    ...makeKeyAccount(ring),
    current: ring.current,
    takeGrant: ring.takeGrant,
  };
}

export type AppSealing = ReturnType<typeof makeAppSealing>;
