import { makeSendOrder } from '../account/send-order.ts';
import type { CallSettings, OnceSettings } from '../api.ts';
import { openClipboard, sealClipboard } from '../sealed/content/clipboard.ts';
import { openMessage, type OpenedMessage, sealMessage } from '../sealed/content/messages.ts';
import type { Keyring } from '../sealed/keyring.ts';
import type { KeyStore } from '../sealed/keys/key-store.ts';
import { memberOf } from '../sealed/ring/ring.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Device, Message, MessageAccepted } from '../wire.ts';
import { sealingError } from './problem.ts';
import type { SealedTarget, SealedTexts, SentText } from './api.ts';
import { checkReady, judge, problemOf } from './judgement.ts';
import type { SealingCalls } from './sealing-calls.ts';
import type { TakenTexts } from './taken.ts';

/** Seals and opens messages and the clipboard. */
export function makeTexts(calls: SealingCalls, store: KeyStore, taken: TakenTexts): SealedTexts {
  const { caller, serverNow } = calls;
  const inOrder = makeSendOrder();

  async function post(id: string, body: { content: string } | { sealed: string }, settings: OnceSettings) {
    const sent = await caller.call('sendMessage', { body: { to_device_id: id, ...body }, ...settings });
    return sent.body;
  }

  const marked = ({ to }: MessageAccepted, sealed: boolean): SealedTarget[] => to.map((each) => ({ ...each, sealed }));

  async function sendToAll(
    keyring: Keyring,
    text: string,
    devices: readonly Device[],
    { plain, ...settings }: CallSettings & { plain: boolean },
  ): Promise<SentText> {
    const others = devices.filter(({ device_id }) => device_id !== keyring.device_id);
    const keyed = others.filter(({ device_id }) => memberOf(keyring.ring, device_id) !== null);
    const unkeyed = others.filter((device) => !keyed.includes(device));
    if (keyed.length === 0 && unkeyed.length > 0 && !plain) throw sealingError('nobody_can_read');
    if (unkeyed.length === 0) {
      const sealed = await sealMessage(keyring, { to: '*', text, t: serverNow() });
      const { body } = await caller.call('sendMessage', { body: { to: '*', sealed }, ...settings });
      return { messageIds: [body.message_id], to: marked(body, true), unkeyed: [] };
    }
    const [messageIds, to]: [string[], SealedTarget[]] = [[], []];
    for (const { device_id: id } of plain ? others : keyed) {
      const isKeyed = memberOf(keyring.ring, id) !== null;
      const body = isKeyed
        ? { sealed: await sealMessage(keyring, { to: id, text, t: serverNow() }) }
        : { content: text };
      const accepted = await post(id, body, settings);
      messageIds.push(accepted.message_id);
      to.push(...marked(accepted, isKeyed));
    }
    return { messageIds, to, unkeyed: plain ? [] : unkeyed };
  }

  /** Opens a message with the known ring first. Only a message that names a newer ring is worth a request. */
  async function opened(keyring: Keyring, message: Message, sealed: string): Promise<OpenedMessage> {
    const { from_device_id: from } = message;
    // Only a device can sign.
    if (from === null) throw sealedError('wrong_signer');
    const own = keyring.device_id;
    return openMessage(keyring, { sealed, from, to: own }).catch((error: unknown) => {
      // The service does not say whether the message was for all devices.
      if (problemOf(error).code !== 'cannot_open') throw error;
      return openMessage(keyring, { sealed, from, to: '*' });
    });
  }

  /** Seals for one device. A device without keys could not read it. */
  function sealFor(keyring: Keyring, to: string, text: string): Promise<string> {
    if (memberOf(keyring.ring, to) === null) throw sealingError('unkeyed_receiver');
    return sealMessage(keyring, { to, text, t: serverNow() });
  }

  return {
    async seal(keyring, { to, text, devices }) {
      checkReady(keyring, devices);
      return sealFor(keyring, to, text);
    },

    post: (to, sealed, settings = {}) => inOrder(to, settings.signal, () => post(to, { sealed }, settings)),

    send(keyring, { to, text, devices, plain = false }, settings = {}) {
      return inOrder(to, settings.signal, async () => {
        checkReady(keyring, devices);
        if (to === '*') return sendToAll(keyring, text, devices, { plain, signal: settings.signal });
        const isKeyed = memberOf(keyring.ring, to) !== null;
        const body = isKeyed || !plain ? { sealed: await sealFor(keyring, to, text) } : { content: text };
        const accepted = await post(to, body, settings);
        return { messageIds: [accepted.message_id], to: marked(accepted, isKeyed), unkeyed: [] };
      });
    },

    async open(keyring, message) {
      const { sealed, message_id } = message;
      if (sealed === undefined) return { kind: 'plain', text: message.content };
      if (keyring === null) return { kind: 'waits', problem: sealedError('unkeyed') };
      try {
        const { id, text, t, sender } = await opened(keyring, message, sealed);
        const before = await taken.messageOf(id);
        if (before === message_id) return { kind: 'again' };
        if (before !== null) throw sealingError('sent_before');
        return { kind: 'opened', text, t, sender };
      } catch (error) {
        return judge(store, keyring, error);
      }
    },

    async shown(keyring, message) {
      if (message.sealed === undefined) return;
      const { id, n } = await opened(keyring, message, message.sealed);
      await taken.addMessage(id, message.message_id, n);
    },

    async setClipboard(keyring, { text, devices }, settings = {}) {
      checkReady(keyring, devices);
      const sealed = await sealClipboard(keyring, { text, t: serverNow() });
      const body = { sealed, content_type: 'text/plain' };
      return (await caller.call('setClipboard', { body, ...settings })).body;
    },

    async openClipboard(keyring, entry) {
      const { sealed, source_device_id: from } = entry;
      if (sealed === undefined) return { kind: 'plain', text: entry.content };
      if (keyring === null) return { kind: 'waits', problem: sealedError('unkeyed') };
      try {
        if (from === null) throw sealedError('wrong_signer');
        const newest = await taken.clipboardOf(from);
        const { text, t, sender } = await openClipboard(keyring, { sealed, from, now: serverNow(), newest });
        if (t > newest) await taken.addClipboard(from, t);
        return { kind: 'opened', text, t, sender };
      } catch (error) {
        return judge(store, keyring, error);
      }
    },
  };
}
