import { timeOrderedId } from '../../../shared/service-kit/random-id.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { MessageAccepted, SendMessage } from '../../../shared/contract/modules/messages.ts';
import { checkSealed } from '../../../shared/service-kit/sealed-text.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';
import type { Caller } from '../identity/caller.ts';
import type { Accepted, MessageStore } from './store.ts';

interface Sent {
  answer: MessageAccepted;
  /** Resolves to whether as many replicas of Redis as configured have it. */
  confirming: Promise<boolean>;
}

interface MessagesParts {
  store: MessageStore;
  /** Returns true for the channel of a replica that is known to be dead, whose routes deliver nothing. */
  isDeadChannel: (channel: string) => boolean;
  /** Called once for each message, however often it is sent. */
  onAccepted: () => void;
}

const SEALED = {
  field: 'sealed',
  most: LIMITS.sealedMessageBytes,
  tooLong: { code: 'message_too_large', advice: ': send a file instead' },
} as const;

/** Checks a message. Its size is that of the UTF-8 that was sent, before anything is trimmed. */
function checkContent({ content = '', sealed }: SendMessage): void {
  if (sealed !== undefined) return checkSealed(sealed, SEALED);
  if (content.trim() === '') throw new BatonError('empty_message');
  if (Buffer.byteLength(content) > LIMITS.messageBytes) {
    throw new BatonError('message_too_large', `A message is at most ${LIMITS.messageBytes} bytes: send a file instead`);
  }
}

const targetOf = ({ to, to_device_id: id }: SendMessage): string =>
  to === undefined ? `=${id}` : to === '*' ? '*' : `~${to}`;

/** Makes the rules of messages: short texts between the devices of an account, kept until they are acknowledged. */
export function makeMessages({ store, isDeadChannel, onAccepted }: MessagesParts) {
  const answerOf = ({ messageId, createdAtMs, targets, routes }: Accepted): MessageAccepted => {
    const live = new Set(routes.filter(({ channel }) => !isDeadChannel(channel)).map(({ device }) => device));
    return {
      message_id: messageId,
      to: targets.map(({ deviceId, name, refused, pushed }) => ({
        device_id: deviceId,
        name,
        online: live.has(deviceId ?? `~${name}`),
        pushed,
        ...(refused && { error: 'mailbox_full' as const }),
      })),
      created_at: createdAtMs,
    };
  };

  return {
    /** Sends a message. Throws `empty_message`, `message_too_large`, `invalid_request` and the refusals of the store. */
    async send(caller: Caller, message: SendMessage, operation: Operation): Promise<Sent> {
      checkContent(message);
      const { content = '', sealed = null } = message;
      const messageId = timeOrderedId();
      const accepting = { target: targetOf(message), messageId, content, sealed, operation };
      const accepted = await store.accept(caller, accepting);
      // A repeated request is answered with the id of the first one.
      if (accepted.messageId === messageId) onAccepted();
      return { answer: answerOf(accepted), confirming: accepted.confirming };
    },

    /** Returns the caller's unacknowledged messages as JSON, oldest first. A caller without a device has no mailbox. */
    async list(caller: Caller): Promise<string> {
      if (caller.deviceId === null) return '[]';
      const messages: string[] = [];
      for await (const page of store.pages(caller.account, caller.deviceId, '')) {
        for (const open of page) messages.push(`${open},"redelivered":false}`);
      }
      return `[${messages.join(',')}]`;
    },

    /** Acknowledges messages; resolves to how many of them the device still held. */
    acknowledge: async (caller: Caller, messageIds: string[]): Promise<number> =>
      caller.deviceId === null ? 0 : store.acknowledge(caller, messageIds),

    /**
     * Yields, as JSON, the unacknowledged messages that a stream of this device that starts at `position` does not get
     * from the log.
     */
    async *unacknowledged(account: string, deviceId: string | null, position: string): AsyncGenerator<string[]> {
      if (deviceId === null) return;
      try {
        for await (const page of store.pages(account, deviceId, position)) {
          yield page.map((open) => `${open},"redelivered":true}`);
        }
      } catch (error) {
        // A device without a row has no mailbox, but may have a stream.
        if (!(error instanceof BatonError && error.code === 'device_required')) throw error;
      }
    },
  };
}

export type Messages = ReturnType<typeof makeMessages>;
