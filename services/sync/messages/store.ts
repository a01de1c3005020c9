import type { Operation } from '../../../shared/service-kit/operation.ts';
import type { LeaseView } from '../replicas/liveness.ts';
import { tellSeveral } from '../devices/several-names.ts';
import type { Caller } from '../identity/caller.ts';
import type { PushQueue } from '../push/push-queue.ts';
import type { Confirm } from '../redis/confirmer.ts';
import type { Db } from '../redis/db.ts';
import { ACCOUNT } from '../redis/keys.ts';
import { rememberSeconds } from '../redis/operations.ts';
import { mailPage, messageAccept, messageAck } from './scripts.ts';

export interface NewMessage {
  /** `*`, `=<device id>` or `~<name>`. */
  target: string;
  messageId: string;
  content: string;
  /** Sealed text in place of the content, which is then empty. */
  sealed: string | null;
  operation: Operation;
}

export interface Accepted {
  messageId: string;
  createdAtMs: number;
  /** Resolves to whether as many replicas of Redis as configured have it. */
  confirming: Promise<boolean>;
  targets: { deviceId: string | null; name: string; refused: boolean; pushed: boolean }[];
  /** Open routes of the account: the channel of a replica, and the device whose stream it holds. */
  routes: { channel: string; device: string }[];
}

interface MessageStoreParts extends Pick<Db, 'scripts' | 'keys'> {
  replica: LeaseView;
  /** Asks replicas of Redis for a confirmation. Null: a message that the primary accepted is accepted. */
  confirm: Confirm | null;
  pushQueue: PushQueue;
}

/** Returns the stored bytes of a message. The JSON is stored, in which a control character is six times as long. */
const storedBytesOf = (content: string, json: string): number =>
  Math.max(Buffer.byteLength(content), Buffer.byteLength(json) - 2);

/** Parses a target of an answer of `message-accept`. */
const targetOf = ([device, name, error, pushed]: readonly [string, string, string, boolean]) => ({
  deviceId: device || null,
  name,
  refused: error !== '',
  pushed,
});

export function makeMessageStore({ scripts, keys, replica, confirm, pushQueue }: MessageStoreParts) {
  const acceptScript = pushQueue.enqueuing(scripts.define(messageAccept));
  const ackScript = scripts.define(messageAck);
  const pageScript = scripts.define(mailPage);

  return {
    /**
     * Accepts a message. Throws `not_found`, `name_taken`, `mailbox_full`, `rate_limited`, `device_required`,
     * `idempotency_key_reused`. `confirming` rejects with `store_unavailable` when the primary was lost before its
     * replicas could be asked.
     */
    async accept(caller: Caller, { target, messageId, content, sealed, operation }: NewMessage): Promise<Accepted> {
      const { account: u, deviceId } = caller;
      const operationKey = keys.operation(u, deviceId, operation.id);
      const json = sealed === null ? JSON.stringify(content) : `"","sealed":"${sealed}"`;
      // Replicas are asked whether they have the stored answer.
      const seconds = rememberSeconds(operation, confirm !== null);
      const accepted = await acceptScript(
        keys.inAccount(u, {
          operation: operationKey,
          rate: keys.rate(u, 'message', deviceId),
          accountRate: keys.rate(u, 'message', ACCOUNT),
        }),
        (pushes) => ({
          sender: deviceId ?? '',
          fromName: caller.name,
          wanted: target,
          messageId,
          content: json,
          bytes: storedBytesOf(content, json),
          fingerprint: operation.fingerprint,
          rememberSeconds: seconds,
          dead: replica.deadChannels(),
          lateMs: replica.lateMs(),
          pushes,
        }),
      ).catch(tellSeveral);
      // The message and its operation were written in one step, so a replica that has one has the other.
      const confirming = confirm?.(operationKey, seconds) ?? Promise.resolve(true);
      const { messageId: id, createdAtMs, targets, routes } = accepted;
      return { messageId: id, createdAtMs, confirming, targets: (targets ?? []).map(targetOf), routes };
    },

    /** Acknowledges messages; resolves to how many of them this device still held. */
    async acknowledge(caller: Caller, messageIds: string[]): Promise<number> {
      const { account: u, deviceId } = caller;
      const { acked } = await ackScript(keys.inAccount(u, { operation: keys.call(u, deviceId) }), {
        device: deviceId ?? '',
        messageIds,
      });
      return acked;
    },

    /**
     * Yields the device's mailbox page by page, oldest first, as JSON objects without their end. With a position,
     * leaves out the messages that a stream which starts there gets from the log.
     */
    async *pages(account: string, deviceId: string, position: string): AsyncGenerator<string[]> {
      let after = '';
      do {
        const { next, open } = await pageScript(keys.inAccount(account), { device: deviceId, after, position });
        yield open;
        after = next;
      } while (after !== '');
    },
  };
}

export type MessageStore = ReturnType<typeof makeMessageStore>;
