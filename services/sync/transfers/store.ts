import { randomInt } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Operation } from '../http/handler.ts';
import type { PushMode } from '../push/owing.ts';
import type { Redis } from '../redis/connections.ts';
import { orFault } from '../redis/faults.ts';
import type { RouteFacts } from '../hub/replica.ts';
import type { Keys } from '../redis/keys.ts';
import { rememberSeconds } from '../redis/operations.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

export interface Generation {
  generation: number;
  base: number;
}

/** What becomes due of a transfer: its expiry. */
const FACT = 'transfer:';

/** A transfer as its scripts return it. */
export interface StoredTransfer {
  /** JSON object without its end, and without what depends on who is asking. */
  openJson: string;
  /** JSON array of the files as they were offered, with their index. */
  files: string;
  relayInUse: boolean;
  /** Files that have begun in the relay: generation, and the offset at which it began. */
  generations: ReadonlyMap<number, Generation>;
}

export interface NewTransfer {
  /** `=<device id>` or `~<name>`. */
  target: string;
  transferId: string;
  files: string;
  fileCount: number;
  totalBytes: number;
  sealed: string | null;
  operation: Operation;
}

export type TransferAction = 'accept' | 'reject' | 'p2p' | 'relay' | 'complete' | 'fail' | 'cancel';

export interface PhaseReport {
  /** Null forwards what is waiting. */
  phase: string | null;
  sentBytes?: number | undefined;
  receivedBytes?: number | undefined;
  /** A file up to where the receiver has stored it. */
  acknowledged?: { index: number; bytes: number };
}

/** `1 0:2:4096 3:0:0`: in use, then file, generation, offset. */
function generationsOf(relay: string): ReadonlyMap<number, Generation> {
  const [, ...begun] = relay.split(' ');
  const rows = begun.map((word) => word.split(':').map(Number) as [number, number, number]);
  return new Map(rows.map(([index, generation, base]) => [index, { generation, base }]));
}

function storedOf([openJson, files, relay]: string[]): StoredTransfer {
  return {
    openJson: openJson as string,
    files: files as string,
    relayInUse: relay?.startsWith('1') ?? false,
    generations: generationsOf(relay as string),
  };
}

function checkAllowed(refusingState: string | undefined): void {
  if (!refusingState) return;
  throw new BatonError('invalid_transition', `The transfer is ${refusingState}`, { members: { state: refusingState } });
}

/** One file of a transfer. */
export interface FileOf {
  readonly transferId: string;
  readonly index: number;
}

interface TransferStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  /** Offers a minute per device; null: unlimited. */
  rateLimit: number | null;
  redeliveryMs: number;
  replica: RouteFacts;
}

/** Records of transfers, and the lists that lead to them. */
export function makeTransferStore(parts: TransferStoreParts) {
  const { redis, scripts, keys, rateLimit, redeliveryMs, replica } = parts;
  const load = (name: string) => scripts.load(`transfer-${name}.lua`, import.meta.url, 'transfer');
  const [init, act, tell, read, list, owed, expire, generation] = [
    ...[load('init'), load('act'), load('phase'), load('read')],
    ...[load('list'), load('owed'), load('expire'), load('generation')],
  ] as const;
  const random = () => randomInt(0, 2 ** 32);

  return {
    /**
     * Null: nothing was done, the account has to be noted first. Throws `not_found`, `invalid_request` (to oneself),
     * `transfer_limit`, `rate_limited`, `device_required`.
     */
    async init(u: string, deviceId: string, transfer: NewTransfer, pushes: PushMode) {
      const { target, transferId, files, fileCount, totalBytes, sealed, operation } = transfer;
      const [openJson, receiver, routes, facts] = await init(
        [
          ...[keys.devices(u), keys.routes(u), keys.log(u), keys.inbox(u), keys.transfer(u, transferId), keys.due(u)],
          ...[keys.operation(u, deviceId, operation.id), keys.rate(u, 'transfer', deviceId), keys.push(u)],
        ],
        [
          ...[deviceId, target, transferId, files, fileCount, totalBytes, JSON.stringify(sealed), random()],
          ...[operation.fingerprint, rememberSeconds(operation), rateLimit ?? 0, LIMITS.liveTransfers],
          ...[pushes, replica.deadChannels(), LIMITS.pushSilenceMs, replica.lateMs()],
        ],
      );
      if (openJson === '') return null;
      const flat = JSON.parse(routes as string) as string[] | Record<string, never>;
      return {
        stored: { openJson: openJson as string, files, relayInUse: false, generations: new Map() },
        receiver: receiver as string,
        routes: Array.isArray(flat) ? flat : [],
        facts: facts as string[],
      };
    },

    /** Throws `not_found`, `not_a_party`, `invalid_transition` with the state that refuses. Device '' may cancel. */
    async act(
      u: string,
      {
        deviceId,
        transferId,
        action,
        phase,
        error,
      }: {
        deviceId: string;
        transferId: string;
        action: TransferAction;
        phase: string | undefined;
        error: object | null;
      },
    ): Promise<StoredTransfer> {
      const reply = (await act(
        [keys.routes(u), keys.log(u), keys.inbox(u), keys.transfer(u, transferId), keys.due(u)],
        [deviceId, action, phase ?? '', JSON.stringify(error), random()],
      )) as string[];
      checkAllowed(reply[3]);
      return storedOf(reply);
    },

    /** As `act`; `waitMs`: after which to call again without a phase, 0 when it was forwarded. */
    async tell(u: string, deviceId: string, transferId: string, report: PhaseReport) {
      const { phase, sentBytes, receivedBytes, acknowledged } = report;
      const told = [phase ?? '', sentBytes ?? '', receivedBytes ?? '', 1_000 / LIMITS.phasesPerSecond];
      const reply = (await tell(
        [keys.routes(u), keys.transfer(u, transferId), keys.due(u)],
        [deviceId, ...told, acknowledged?.index ?? '', acknowledged?.bytes ?? ''],
      )) as string[];
      checkAllowed(reply[3]);
      return { stored: storedOf(reply), waitMs: Number(reply[4]) };
    },

    /** Throws `not_found`, `not_a_party`. */
    async read(u: string, deviceId: string, transferId: string): Promise<StoredTransfer> {
      return storedOf((await read([keys.transfer(u, transferId)], [deviceId])) as string[]);
    },

    /** `<created>-<transfer>` of the device's transfers, newest first, after `cursor`. */
    async list(u: string, deviceId: string, cursor: string, count: number): Promise<string[]> {
      return (await list([keys.inbox(u)], [deviceId, cursor, count])) as string[];
    },

    /** Ids of what the device has not accepted and its stream does not get from the log. */
    async owed(u: string, deviceId: string, position: string): Promise<string[]> {
      return (await owed([keys.inbox(u), keys.log(u)], [deviceId, position, redeliveryMs])) as string[];
    },

    /**
     * Makes `to` the generation of a file when it still is `from`; the one that it has then. Throws `not_found`, and
     * `invalid_transition` where the transfer has ended.
     */
    setGeneration: (u: string, file: FileOf, from: number | null, to: number, offset: number) =>
      moveTo(u, file, { from, to, offset, tells: from !== null }),

    /** A file needs nothing of the relay any more, while it still is in this generation. Throws `not_found`. */
    setDelivered: (u: string, file: FileOf, now: number, size: number) =>
      moveTo(u, file, { from: now, to: now, offset: size, tells: false }),

    /** Ids of everything that the account has a record of, ended or not: each expires one day. */
    async all(u: string): Promise<string[]> {
      const facts = await orFault(redis.zrangebyscore(keys.due(u), '-inf', '+inf'));
      return facts.filter((fact) => fact.startsWith(FACT)).map((fact) => fact.slice(FACT.length));
    },

    /** The record first: what leads to it goes last, so that this can be repeated. */
    async erase(u: string, transferId: string): Promise<void> {
      await orFault(redis.del(keys.transfer(u, transferId)));
      await orFault(redis.zrem(keys.due(u), FACT + transferId));
    },

    /** Ends a transfer whose time is over: the files that had begun in the relay; null when it is not over. */
    async expire(u: string, transferId: string): Promise<ReadonlyMap<number, Generation> | null> {
      const [expired, relay] = (await expire(
        [keys.routes(u), keys.log(u), keys.inbox(u), keys.transfer(u, transferId), keys.due(u)],
        [transferId, random()],
      )) as string[];
      return expired === '1' ? generationsOf(relay as string) : null;
    },
  };

  async function moveTo(
    u: string,
    { transferId, index }: FileOf,
    { from, to, offset, tells }: { from: number | null; to: number; offset: number; tells: boolean },
  ): Promise<number> {
    const [now, state] = (await generation(
      [keys.routes(u), keys.log(u), keys.transfer(u, transferId)],
      [index, from ?? '', to, offset, random(), tells ? 1 : 0],
    )) as string[];
    if (now === '') throw new BatonError('invalid_transition', `The transfer is ${state}`, { members: { state } });
    return Number(now);
  }
}

export type TransferStore = ReturnType<typeof makeTransferStore>;
