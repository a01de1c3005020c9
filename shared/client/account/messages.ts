import { LIMITS } from '../../contract/limits.ts';
import type { Messages } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import { makeRepeated, type RepeatedParts } from '../time/repeated.ts';
import { failureOf } from '../errors/failure.ts';
import { makeRecent } from '../stream/recent.ts';
import { makeSendOrder } from './send-order.ts';
import { looksOf } from '../../contract/vocabulary/device-names.ts';
import { targetOf } from './target.ts';
import type { Message } from '../wire.ts';

/** The number of taken messages that are remembered: twice as many as a mailbox holds. */
const TAKEN = 1_024;

interface Parts {
  caller: Caller;
  repeated: RepeatedParts;
  isOnline: () => boolean;
  /** The device whose name looks like this one, if it is known. */
  deviceNamed: (name: string) => string | undefined;
}

export interface MessageModule {
  readonly api: Messages;
  /** Takes a message of the stream, whether it came before or not. */
  onMessage(message: Message): void;
}

export function makeMessages({ caller, repeated, isOnline, deviceNamed }: Parts): MessageModule {
  const inOrder = makeSendOrder();
  const taken = makeRecent(TAKEN);
  const taking = new Set<string>();
  const toAcknowledge = new Set<string>();
  let receiver: ((message: Message) => void | Promise<void>) | null = null;

  /** Acknowledges every message that was taken meanwhile. Until then the sender sees it as not delivered. */
  const acknowledgeSoon = makeRepeated(repeated, async () => {
    // Messages that are taken in this moment go with it.
    await Promise.resolve();
    const ids = [...toAcknowledge];
    try {
      await api.acknowledge(ids);
    } catch (error) {
      // A message that is not acknowledged comes again with the next stream.
      if (failureOf(error).action !== 'retry') for (const id of ids) toAcknowledge.delete(id);
      throw error;
    }
    for (const id of ids) toAcknowledge.delete(id);
  });

  /** Hands over the messages that came while nobody took them. */
  const handWaiting = makeRepeated(repeated, async () => (await api.list()).forEach(onMessage));

  async function hand(message: Message): Promise<void> {
    const id = message.message_id;
    if (receiver === null || taking.has(id)) return;
    taking.add(id);
    try {
      // A message that was taken before comes again because its acknowledgement was lost.
      if (!taken.has(id)) await receiver(message);
      taken.add(id);
    } finally {
      taking.delete(id);
    }
    toAcknowledge.add(id);
    acknowledgeSoon();
  }

  const api: Messages = {
    send(to, content, settings = {}) {
      const line = typeof to === 'string' ? (deviceNamed(to) ?? looksOf(to)) : to.device_id;
      return inOrder(line, settings.signal, async () => {
        return (await caller.call('sendMessage', { body: { ...targetOf(to), content }, ...settings })).body;
      });
    },
    receive(take) {
      receiver = take;
      if (isOnline()) handWaiting();
      return () => {
        if (receiver === take) receiver = null;
      };
    },
    async list(settings) {
      return (await caller.call('listMessages', settings)).body.messages;
    },
    async acknowledge(messageIds, settings) {
      let acked = 0;
      for (let i = 0; i < messageIds.length; i += LIMITS.ackIds) {
        const message_ids = messageIds.slice(i, i + LIMITS.ackIds);
        acked += (await caller.call('ackMessages', { body: { message_ids }, ...settings })).body.acked;
      }
      return acked;
    },
  };

  function onMessage(message: Message): void {
    hand(message).catch(repeated.onProblem);
  }

  return { api, onMessage };
}
