import { makeSendOrder } from '../account/send-order.ts';
import type { CallSettings, OnceSettings } from '../api.ts';
import { openClipboard, sealClipboard } from '../sealed/content/clipboard.ts';
import { openMessage, type OpenedMessage, sealMessage } from '../sealed/content/messages.ts';
import { type Keyring, keysOf } from '../sealed/keyring.ts';
import type { KeyStore } from '../sealed/keys/key-store.ts';
import { toBase64url } from '../sealed/primitives/bytes.ts';
import { sha256 } from '../sealed/primitives/hkdf.ts';
import { parts } from '../sealed/primitives/parts.ts';
import { memberOf } from '../sealed/ring/ring.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Message, MessageAccepted } from '../wire.ts';
import { sealingError } from './problem.ts';
import type { Rings, SealedTarget, SealedTexts, SentText, TextToSend } from './api.ts';
import { checkReady, judge, problemOf, withNewest } from './judgement.ts';
import type { SealingCalls } from './sealing-calls.ts';
import { findTaken, takenId, type TakenTexts } from './taken.ts';

/** Makes the id inside a sealed text from the program's own id of that text. */
async function bodyIdOf({ account, device_id }: Keyring, to: string, id: string): Promise<string> {
  const said = parts(['baton/1 text id', account.service, account.user_id, device_id, to, id]);
  return toBase64url((await sha256(said)).subarray(0, 16));
}

/**
 * How far ahead of the service's time a clipboard may be dated. Other devices refuse what is older than the newest one, so a
 * clipboard is later than the one before it, even if the known time went back: this machine's clock may have been set. They
 * refuse what is an hour ahead as well.
 */
const AHEAD_MS = 3_000_000;
/** The known time of the service moves by less than this, unless a clock was set. */
const CLOCK_SET_MS = 60_000;

/** The beginning of an envelope under the key of the account, as base64url. */
const UNDER_ACCOUNT_KEY = 'AQ';

/** The devices that can have sealed a text: those of the known rings, and guests. */
const sendersOf = ({ rings, guests }: Keyring): string[] => [
  ...new Set([...rings.toReversed().flatMap(({ body }) => body.members), ...guests].map(({ device_id }) => device_id)),
];

interface TextsParts {
  readonly store: KeyStore;
  readonly taken: TakenTexts;
  readonly rings: Pick<Rings, 'current'>;
}

/** Seals and opens messages and the clipboard. */
export function makeTexts(calls: SealingCalls, { store, taken, rings }: TextsParts): SealedTexts {
  const { caller, serverNow, trustedNow } = calls;
  const isKeyed = (keyring: Keyring, id: string): boolean => keysOf(keyring, id, trustedNow()) !== null;
  const inOrder = makeSendOrder();
  /** The time of the last clipboard of this device. */
  let clipboardAt = 0;
  /** The ids of messages among those that were taken, so that none is opened again to be noted. */
  const ids = new WeakMap<Message, { sealed: string; id: string; n: number; t: number }>();

  /** Asks for the service's time. Tells whether this machine's clock was set since the last response. */
  async function wasClockSet(): Promise<boolean> {
    const before = serverNow() - Date.now();
    await rings.current().catch(() => null);
    return Math.abs(serverNow() - Date.now() - before) > CLOCK_SET_MS;
  }

  async function post(id: string, body: { content: string } | { sealed: string }, settings: OnceSettings) {
    const sent = await caller.call('sendMessage', { body: { to_device_id: id, ...body }, ...settings });
    return sent.body;
  }

  const marked = ({ to }: MessageAccepted, sealed: boolean): SealedTarget[] => to.map((each) => ({ ...each, sealed }));

  /** Seals for one device, or for all. A device without keys could not read it. */
  async function sealFor(keyring: Keyring, { to, text, id }: Omit<TextToSend, 'devices'>): Promise<string> {
    if (to === '*' && memberOf(keyring.ring, keyring.device_id) === null) throw sealingError('for_members');
    if (to !== '*' && !isKeyed(keyring, to)) throw sealingError('unkeyed_receiver');
    const bodyId = id === undefined ? {} : { id: await bodyIdOf(keyring, to, id) };
    return sealMessage(keyring, { to, text, t: serverNow(), ...bodyId });
  }

  async function sendToAll(
    keyring: Keyring,
    { text, id: own, devices, plain = false }: TextToSend,
    settings: CallSettings,
  ): Promise<SentText> {
    // A device that is listed twice would show the text twice.
    const listed = new Map(devices.map((device) => [device.device_id, device]));
    const others = [...listed.values()].filter(({ device_id }) => device_id !== keyring.device_id);
    const keyed = others.filter(({ device_id }) => isKeyed(keyring, device_id));
    const unkeyed = others.filter((device) => !keyed.includes(device));
    if (keyed.length === 0 && unkeyed.length > 0 && !plain) throw sealingError('nobody_can_read');
    // Only members have the key under which one text is sealed for all.
    if ([keyring, ...others].every(({ device_id }) => memberOf(keyring.ring, device_id) !== null)) {
      const sealed = await sealFor(keyring, { to: '*', text, id: own });
      const { body } = await caller.call('sendMessage', { body: { to: '*', sealed }, ...settings });
      return { messageIds: [body.message_id], to: marked(body, true), unkeyed: [] };
    }
    const [messageIds, to]: [string[], SealedTarget[]] = [[], []];
    for (const { device_id: id } of plain ? others : keyed) {
      const isSealed = keyed.some(({ device_id }) => device_id === id);
      const body = isSealed ? { sealed: await sealFor(keyring, { to: id, text, id: own }) } : { content: text };
      const accepted = await post(id, body, settings);
      messageIds.push(accepted.message_id);
      to.push(...marked(accepted, isSealed));
    }
    return { messageIds, to, unkeyed: plain ? [] : unkeyed };
  }

  /** Opens a message with the known ring first. Only a message that names a newer ring is worth a request. */
  async function opened(keyring: Keyring, message: Message, sealed: string): Promise<OpenedMessage> {
    const { from_device_id: from } = message;
    // Only a device can sign.
    if (from === null) throw sealedError('wrong_signer');
    return withNewest(
      keyring,
      () => rings.current(),
      (known) => openedFrom(known, sealed, from),
    );
  }

  async function openedFrom(keyring: Keyring, sealed: string, from: string): Promise<OpenedMessage> {
    const own = keyring.device_id;
    const isShared = sealed.startsWith(UNDER_ACCOUNT_KEY);
    if (isShared && memberOf(keyring.ring, own) === null && keyring.accountKeys.length === 0) {
      throw sealingError('for_members');
    }
    return openMessage(keyring, { sealed, from, to: own }).catch((error: unknown) => {
      // The service does not say whether the message was for all devices.
      if (problemOf(error).code !== 'cannot_open') throw error;
      return openMessage(keyring, { sealed, from, to: '*' });
    });
  }

  return {
    async seal(keyring, text) {
      checkReady(keyring, trustedNow());
      return sealFor(keyring, text);
    },

    async unseal(keyring, sealed, from) {
      for (const each of from === undefined ? sendersOf(keyring) : [from]) {
        const found = await openedFrom(keyring, sealed, each).catch((error: unknown) => {
          // The sender is not in the envelope, and this is not the one who sealed it.
          if (problemOf(error).code === 'cannot_open') return null;
          throw error;
        });
        if (found !== null) return { text: found.text, t: found.t, sender: found.sender };
      }
      throw sealedError('cannot_open');
    },

    post: (to, sealed, settings = {}) => inOrder(to, settings.signal, () => post(to, { sealed }, settings)),

    send(keyring, wanted, settings = {}) {
      const { to, text, plain = false } = wanted;
      return inOrder(to, settings.signal, async () => {
        checkReady(keyring, trustedNow());
        if (to === '*') return sendToAll(keyring, wanted, settings);
        const isSealed = isKeyed(keyring, to);
        const body = isSealed || !plain ? { sealed: await sealFor(keyring, wanted) } : { content: text };
        const accepted = await post(to, body, settings);
        return { messageIds: [accepted.message_id], to: marked(accepted, isSealed), unkeyed: [] };
      });
    },

    async open(keyring, message) {
      const { sealed, message_id } = message;
      if (sealed === undefined) return { kind: 'plain', text: message.content };
      if (keyring === null) return { kind: 'waits', problem: sealedError('unkeyed') };
      try {
        const found = await opened(keyring, message, sealed);
        const { text, t, n, sender } = found;
        ids.set(message, { sealed, id: takenId(sender.device_id, found.id), n, t });
        const before = await findTaken(taken, found);
        // A sender that does not know whether a text arrived seals it again after a rotation, with the same id. Only the
        // sender can sign another ring into it, so any other repetition is somebody else's.
        if (before !== null && (before.messageId === message_id || before.n !== n)) return { kind: 'again' };
        if (before !== null) throw sealingError('sent_before');
        return { kind: 'opened', text, t, sender };
      } catch (error) {
        return judge(store, keyring, error);
      }
    },

    async shown(keyring, message) {
      const { sealed } = message;
      if (sealed === undefined) return;
      const known = ids.get(message);
      const noted = async () => {
        const { id, n, t, sender } = await opened(keyring, message, sealed);
        return { id: takenId(sender.device_id, id), n, t };
      };
      const { id, n, t } = known?.sealed === sealed ? known : await noted();
      await taken.addMessage(id, message.message_id, n, t);
    },

    async setClipboard(keyring, text, settings = {}) {
      checkReady(keyring, trustedNow());
      if (memberOf(keyring.ring, keyring.device_id) === null) throw sealingError('guest_clipboard');
      const put = async () => {
        const now = serverNow();
        clipboardAt = clipboardAt - now < AHEAD_MS ? Math.max(now, clipboardAt + 1) : now;
        const sealed = await sealClipboard(keyring, { text, t: clipboardAt });
        return (await caller.call('setClipboard', { body: { sealed, content_type: 'text/plain' }, ...settings })).body;
      };
      const done = await put();
      // The response has shown that this machine's clock is wrong by more than the other devices accept.
      return Math.abs(clipboardAt - serverNow()) < AHEAD_MS ? done : put();
    },

    async openClipboard(keyring, entry) {
      const { sealed, source_device_id: from } = entry;
      if (sealed === undefined) return { kind: 'plain', text: entry.content };
      if (keyring === null) return { kind: 'waits', problem: sealedError('unkeyed') };
      try {
        if (from === null) throw sealedError('wrong_signer');
        if (memberOf(keyring.ring, keyring.device_id) === null) throw sealingError('guest_clipboard');
        const newest = await taken.clipboardOf(from);
        const open = () => openClipboard(keyring, { sealed, from, now: serverNow(), newest });
        const { text, t, sender } = await open().catch(async (error: unknown) => {
          if (problemOf(error).code !== 'too_old' || !(await wasClockSet())) throw error;
          return open();
        });
        if (sender.kind === 'guest') throw sealingError('guest_clipboard');
        if (sender.isRemoved) throw sealedError('not_a_member');
        if (t > newest) await taken.addClipboard(from, t);
        return { kind: 'opened', text, t, sender };
      } catch (error) {
        return judge(store, keyring, error);
      }
    },
  };
}
