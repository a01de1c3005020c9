import { randomInt } from 'node:crypto';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Operation } from '../http/handler.ts';
import type { RouteFacts } from '../hub/replica.ts';
import type { Caller } from '../identity/caller.ts';
import type { PushMode } from '../push/owing.ts';
import type { Confirm } from '../redis/confirmer.ts';
import { ACCOUNT, type Keys } from '../redis/keys.ts';
import { rememberSeconds } from '../redis/operations.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

/** Bytes of one page of a mailbox: what a stream that is slow to take it holds in memory meanwhile. */
const PAGE_BYTES = 32 * 1024;

export interface NewMessage {
  /** `*`, `=<device id>` or `~<name>`. */
  target: string;
  messageId: string;
  content: string;
  operation: Operation;
}

export interface Accepted {
  messageId: string;
  createdAtMs: number;
  /** As many replicas have it as were asked for. */
  isConfirmed: boolean;
  targets: { deviceId: string | null; name: string; refused: boolean; pushed: boolean }[];
  /** Open routes of the account: which replica's channel holds which device. */
  routes: { channel: string; device: string }[];
  /** What is to be pushed at once. */
  facts: string[];
}

function routesOf(flat: string[]): Accepted['routes'] {
  const routes: Accepted['routes'] = [];
  for (let i = 0; i < flat.length; i += 2) routes.push({ channel: flat[i] as string, device: flat[i + 1] as string });
  return routes;
}

interface MessageStoreParts {
  scripts: ScriptLoader;
  keys: Keys;
  replica: RouteFacts;
  /** Messages a minute per device; null: unlimited. */
  rateLimit: number | null;
  /** Null: what the primary accepted is accepted. */
  confirm: Confirm | null;
}

/** The mailboxes of an account. */
export function makeMessageStore({ scripts, keys, replica, rateLimit, confirm }: MessageStoreParts) {
  const acceptScript = scripts.load('message-accept.lua', import.meta.url, 'message');
  const ackScript = scripts.load('message-ack.lua', import.meta.url);
  const pageScript = scripts.load('mail-page.lua', import.meta.url);

  return {
    /**
     * Null: nothing was done, the account has to be noted first. Throws `not_found`, `mailbox_full`, `rate_limited`,
     * `device_required`, `idempotency_key_reused`; `store_unavailable` also when it was accepted and then the primary
     * was gone before its replicas could be asked.
     */
    async accept(
      caller: Caller,
      { target, messageId, content, operation }: NewMessage,
      pushes: PushMode,
    ): Promise<Accepted | null> {
      const { account: u, deviceId } = caller;
      const operationKey = keys.operation(u, deviceId, operation.id);
      const json = JSON.stringify(content);
      // What is kept is the JSON, in which a control character is six times as long.
      const storedBytes = Math.max(Buffer.byteLength(content), Buffer.byteLength(json) - 2);
      const [id, created, targets, routes, facts] = await acceptScript(
        [
          ...[keys.devices(u), keys.routes(u), keys.log(u), keys.mail(u), keys.inbox(u)],
          ...[operationKey, keys.rate(u, 'message', deviceId)],
          ...[keys.push(u), keys.due(u), keys.rate(u, 'message', ACCOUNT), keys.targets(u)],
        ],
        [
          ...[deviceId ?? '', caller.name, target, messageId, json, storedBytes],
          ...[randomInt(0, 2 ** 32), operation.fingerprint, rememberSeconds(operation), rateLimit ?? 0],
          ...[LIMITS.mailboxMessages, LIMITS.mailboxBytes, LIMITS.mailboxSeconds],
          ...[pushes, replica.deadChannels(), LIMITS.pushSilenceMs, replica.lateMs()],
        ],
      );
      if (id === '') return null;
      // The message and its operation were written in one step: who has the one has the other.
      const isConfirmed = confirm === null || (await confirm(operationKey, rememberSeconds(operation)));
      return {
        messageId: id as string,
        createdAtMs: Number(created),
        isConfirmed,
        targets: (JSON.parse(targets as string) as [string, string, string, boolean][]).map(
          ([device, name, error, pushed]) => ({ deviceId: device || null, name, refused: error !== '', pushed }),
        ),
        routes: routesOf(routes as string[]),
        facts: facts as string[],
      };
    },

    /** Resolves to how many of them this device still held. */
    async acknowledge(caller: Caller, messageIds: string[], operation: Operation): Promise<number> {
      const { account: u, deviceId } = caller;
      const [acked] = await ackScript(
        [
          ...[keys.devices(u), keys.routes(u), keys.log(u), keys.mail(u), keys.inbox(u)],
          keys.operation(u, deviceId, operation.id),
        ],
        [deviceId ?? '', randomInt(0, 2 ** 32), operation.fingerprint, rememberSeconds(operation), ...messageIds],
      );
      return Number(acked);
    },

    /**
     * The device's mailbox page by page, oldest first, as JSON objects without their end. With a position: without
     * what a stream that starts there gets from the log.
     */
    async *pages(account: string, deviceId: string, position: string): AsyncGenerator<string[]> {
      let after = '';
      do {
        const [next, ...open] = (await pageScript(
          [keys.devices(account), keys.log(account), keys.mail(account), keys.inbox(account)],
          [deviceId, after, position, PAGE_BYTES, LIMITS.mailboxSeconds],
        )) as string[];
        yield open;
        after = next ?? '';
      } while (after !== '');
    },
  };
}

export type MessageStore = ReturnType<typeof makeMessageStore>;
