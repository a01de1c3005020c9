import { LIMITS } from '../../contract/limits.ts';
import type { Messages } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import { failureOf } from '../errors/failure.ts';
import { makeRecent } from '../stream/recent.ts';
import { makeSendOrder } from './send-order.ts';
import { looksOf } from '../../contract/vocabulary/device-names.ts';
import { targetOf } from './target.ts';
import type { Message } from '../wire.ts';

/** The number of taken messages that are remembered: twice as many as a mailbox holds. */
const TAKEN = 1_024;

/** The pause after a failed acknowledgement. Until it succeeds the sender sees the message as not delivered. */
const ACKNOWLEDGE_AGAIN_MS = 2_000;

interface Parts {
  caller: Caller;
  clock: Clock;
  /** Aborted when the client is closed. */
  life: () => AbortSignal;
  isOnline: () => boolean;
  /** The device whose name looks like this one, as far as it is known. */
  deviceNamed: (name: string) => string | undefined;
  onProblem: (error: unknown) => void;
}

export interface MessageModule {
  readonly api: Messages;
  /** Takes a message of the stream, whether it came before or not. */
  onMessage(message: Message): void;
}

export function makeMessages({ caller, clock, life, isOnline, deviceNamed, onProblem }: Parts): MessageModule {
  const inOrder = makeSendOrder();
  const taken = makeRecent(TAKEN);
  const taking = new Set<string>();
  const toAcknowledge = new Set<string>();
  let isAcknowledging = false;
  let forgetAgain = (): void => {};
  let receiver: ((message: Message) => void | Promise<void>) | null = null;

  /** Sends one request at a time, with every message that was taken meanwhile. */
  async function acknowledge(): Promise<void> {
    if (isAcknowledging) return;
    isAcknowledging = true;
    forgetAgain();
    try {
      // Messages that are taken in this moment go with it.
      await Promise.resolve();
      while (toAcknowledge.size > 0) {
        const ids = [...toAcknowledge].slice(0, LIMITS.ackIds);
        await caller.call('ackMessages', { body: { message_ids: ids } });
        for (const id of ids) toAcknowledge.delete(id);
      }
    } finally {
      isAcknowledging = false;
    }
  }

  function acknowledgeSoon(): void {
    acknowledge().catch((error: unknown) => {
      onProblem(error);
      const { action, retryAfterMs } = failureOf(error);
      // A message that is not acknowledged comes again with the next stream.
      if (action !== 'retry' || life().aborted) return toAcknowledge.clear();
      const cancel = clock.after(Math.max(ACKNOWLEDGE_AGAIN_MS, retryAfterMs ?? 0), acknowledgeSoon);
      const signal = life();
      forgetAgain();
      forgetAgain = () => {
        cancel();
        signal.removeEventListener('abort', forgetAgain);
      };
      signal.addEventListener('abort', forgetAgain);
    });
  }

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
      // Hands over the messages that came while nobody took them.
      if (isOnline()) {
        api.list().then((messages) => messages.forEach(onMessage), onProblem);
      }
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
    hand(message).catch(onProblem);
  }

  return { api, onMessage };
}
