import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';
import type { PushQueue } from '../push/push-queue.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { LeaseView } from '../replicas/liveness.ts';
import type { FileList } from './file-list.ts';
import type { Db } from '../redis/db.ts';
import { ACCOUNT } from '../redis/keys.ts';
import { rememberSeconds } from '../redis/operations.ts';
import {
  transferAct,
  transferEnd,
  transferEvict,
  transferExpire,
  transferFile,
  transferGeneration,
  transferGlance,
  transferInit,
  transferList,
  transferPending,
  transferPhase,
  transferRead,
} from './scripts.ts';

export interface Generation {
  generation: number;
  base: number;
}

const JOB_PREFIX = 'transfer:';

/** A transfer as its scripts return it. */
export interface StoredTransfer {
  /** JSON object without its end, and without the fields that depend on which party asks. */
  openJson: string;
  /** JSON array of the offered files, with their index. Null: a long list, which was not read. */
  files: string | null;
  relayInUse: boolean;
  /** Files that have begun in the relay, with generation and the offset at which it began. */
  generations: ReadonlyMap<number, Generation>;
}

export interface NewTransfer {
  /** `=<device id>` or `~<name>`. */
  target: string;
  transferId: string;
  files: FileList;
  sealed: string | null;
  isGuest: boolean;
  operation: Operation;
}

export type TransferAction = 'accept' | 'reject' | 'p2p' | 'relay' | 'complete' | 'fail' | 'cancel';

interface Acting {
  deviceId: string;
  transferId: string;
  action: TransferAction;
  phase?: string | undefined;
  error: object | null;
}

export interface PhaseReport {
  /** Null: forwards the pending phase. */
  phase: string | null;
  sentBytes?: number | undefined;
  receivedBytes?: number | undefined;
  /** A file, and how many of its bytes the receiver has stored. */
  acknowledged?: { index: number; bytes: number };
}

/** Parses `1 0:2:4096 3:0:0`: whether the relay is in use, then file, generation and offset of each file. */
function generationsOf(relay: string): ReadonlyMap<number, Generation> {
  const [, ...begun] = relay.split(' ');
  const rows = begun.map((word) => word.split(':').map(Number) as [number, number, number]);
  return new Map(rows.map(([index, generation, base]) => [index, { generation, base }]));
}

function storedOf({ openJson, files, relay }: { openJson: string; files: string; relay: string }): StoredTransfer {
  const generations = generationsOf(relay);
  return { openJson, files: files || null, relayInUse: relay.startsWith('1'), generations };
}

/** Rounds of eviction, each of eight transfers. A further round is needed only when as many ended in between. */
const EVICTIONS = 5;

function checkAllowed(refusingState: string): void {
  if (refusingState === '') return;
  throw new BatonError('invalid_transition', `The transfer is ${refusingState}`, { members: { state: refusingState } });
}

/** One file of a transfer. */
export interface FileOf {
  readonly transferId: string;
  readonly index: number;
}

const ENDING: ReadonlySet<TransferAction> = new Set(['reject', 'complete', 'fail', 'cancel']);

interface TransferStoreParts extends Db {
  redeliveryMs: number;
  replica: LeaseView;
  /** Writes the account into the index of due things. */
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  pushQueue: PushQueue;
}

/** Makes the store of transfer records and of the lists that lead to them. */
export function makeTransferStore(parts: TransferStoreParts) {
  const { redis, scripts, keys, redeliveryMs, replica, scheduleDue, pushQueue } = parts;
  const init = pushQueue.enqueuing(scripts.define(transferInit));
  const pending = scripts.define(transferPending, { REDELIVERY_MS: redeliveryMs });
  const act = scripts.define(transferAct);
  const end = scripts.define(transferEnd);
  const tell = scripts.define(transferPhase);
  const setGeneration = scripts.define(transferGeneration);
  const read = scripts.define(transferRead);
  const glance = scripts.define(transferGlance);
  const oneFile = scripts.define(transferFile);
  const list = scripts.define(transferList);
  const expire = scripts.define(transferExpire);
  const evict = scripts.define(transferEvict);

  return {
    /**
     * Schedules first: a record whose account is not in the index would never expire. Throws `not_found`,
     * `invalid_request` (to oneself), `transfer_limit`, `rate_limited`, `device_required`.
     */
    async init(u: string, deviceId: string, transfer: NewTransfer) {
      await scheduleDue(u, LIMITS.transferSeconds * 1000);
      const { files } = transfer;
      const shown = files.long === '' ? files.inRecord : null;
      for (let tries = 0; tries < EVICTIONS; tries++) {
        const { openJson, evict: surplus, receiver, routes } = await offer(u, deviceId, transfer);
        if (openJson !== '') {
          const stored = { openJson, files: shown, relayInUse: false, generations: new Map() };
          return { stored, receiver, routes };
        }
        // The oldest ended ones are removed. Concurrent offers remove the same ones.
        await Promise.all(surplus.map((id) => evict(keysOf(u, id), { transferId: id })));
      }
      throw new BatonError('transfer_limit');
    },

    /**
     * `isNew`: the state has changed. Throws `not_found`, `not_a_party`, `invalid_transition` with the state that
     * refuses. Device '' may cancel.
     */
    async act(u: string, { deviceId, transferId, action, phase = '', error }: Acting) {
      const carryOut = ENDING.has(action) ? end : act;
      const reply = await carryOut(keysOf(u, transferId), {
        device: deviceId,
        action,
        phase,
        error: JSON.stringify(error),
      });
      checkAllowed(reply.refusingState);
      return { stored: storedOf(reply), isNew: reply.isNew };
    },

    /**
     * As `act`. `waitMs`: after how long to call again without a phase; 0 when it was forwarded. Throws `invalid_request`
     * for the other side's number, and for a number above the total.
     */
    async tell(u: string, deviceId: string, transferId: string, report: PhaseReport) {
      const { phase, sentBytes, receivedBytes, acknowledged } = report;
      const reply = await tell(keysOf(u, transferId), {
        device: deviceId,
        phase: phase ?? '',
        sent: sentBytes ?? null,
        received: receivedBytes ?? null,
        file: acknowledged?.index ?? null,
        storedBytes: acknowledged?.bytes ?? null,
      });
      checkAllowed(reply.refusingState);
      if (reply.wrong !== '') {
        const message = 'is told by its own side alone, and is at most the total';
        const flaw = { path: `/body/progress/${reply.wrong}`, message };
        throw new BatonError('invalid_request', `${flaw.path} ${message}`, { errors: [flaw] });
      }
      return { stored: storedOf(reply), waitMs: reply.waitMs };
    },

    /** Reads a transfer, with all files of a live one. Throws `not_found`, `not_a_party`. */
    async read(u: string, deviceId: string, transferId: string): Promise<StoredTransfer> {
      return storedOf(await read(keysOf(u, transferId), { device: deviceId }));
    },

    /** Reads a transfer without a long list of files; null if in another state. Throws `not_found`, `not_a_party`. */
    async glance(u: string, deviceId: string, transferId: string, state = ''): Promise<StoredTransfer | null> {
      const stored = await glance(keysOf(u, transferId), { device: deviceId, state });
      return stored.openJson === '' ? null : storedOf(stored);
    },

    /** Reads one file, without reading a long list. Throws `not_found`, `not_a_party`. */
    async file(u: string, deviceId: string, { transferId, index }: FileOf) {
      const { begun, file, files, ...stored } = await oneFile(keysOf(u, transferId), { device: deviceId, file: index });
      const found = file ?? files?.[index];
      if (found === undefined) throw new BatonError('not_found');
      const [generation = null, base = 0] = begun ? begun.split(':').map(Number) : [];
      return { ...stored, name: found.name, size: found.size, generation, base };
    },

    /** Returns `<created>-<transfer>` of the device's transfers, newest first, after `cursor`. */
    async list(u: string, deviceId: string, cursor: string, count: number): Promise<string[]> {
      return (await list(keys.inAccount(u), { device: deviceId, cursor, count })).transfers;
    },

    /** Takes ended transfers off a device's list. They are entries of `list`. */
    async unlist(u: string, deviceId: string, entries: string[]): Promise<void> {
      const members = entries.map((entry) => `${deviceId} all ${entry}`);
      if (members.length > 0) await orFault(redis, () => redis.zrem(keys.offers(u), ...members));
    },

    /** Returns the ids of offers that the device has not accepted and that its stream does not get from the log. */
    async pending(u: string, deviceId: string, position: string): Promise<string[]> {
      return (await pending(keys.inAccount(u), { device: deviceId, position })).transfers;
    },

    /**
     * Records that the relay's first generation of a file has begun. This method and the next three resolve to the file's
     * generation, and throw `not_found`. This and the next two also throw `invalid_transition` if the transfer has
     * ended.
     */
    beginGeneration: (u: string, file: FileOf) => moveTo(u, file, { from: null, to: 0, offset: 0, tells: false }),

    /** Replaces generation `from`, if it is still current, by `to`, which begins at `offset`. Notifies the sender. */
    rewindGeneration: (u: string, file: FileOf, change: { from: number; to: number; offset: number }) =>
      moveTo(u, file, { ...change, tells: true }),

    /** Notifies a generation's sender again of where to go on; of the same offset only once in half a minute. */
    notifySender: (u: string, file: FileOf, now: number, offset: number) =>
      moveTo(u, file, { from: now, to: now, offset, tells: true }),

    /** Marks a file as delivered by the relay, if this generation is still current. */
    setDelivered: (u: string, file: FileOf, now: number, size: number) =>
      moveTo(u, file, { from: now, to: now, offset: size, tells: false }),

    /** Returns the ids of all records of the account, including ended ones: the expiry of each is a due job. */
    async all(u: string): Promise<string[]> {
      const jobs = await orFault(redis, () => redis.zrangebyscore(keys.due(u), '-inf', '+inf'));
      return jobs.filter((job) => job.startsWith(JOB_PREFIX)).map((job) => job.slice(JOB_PREFIX.length));
    },

    /** Removes the record first, and the entries that lead to it last, so that a repetition finds them. */
    async erase(u: string, transferId: string): Promise<void> {
      await orFault(redis, () => redis.del(...Object.values(recordKeys(u, transferId))));
      await orFault(redis, () => redis.zrem(keys.transfers(u), transferId));
      await orFault(redis, () => redis.zrem(keys.due(u), JOB_PREFIX + transferId));
    },

    /** Ends a transfer whose time is over. Resolves to its files that had begun in the relay; null before that time. */
    async expire(u: string, transferId: string) {
      const { expired, relay, wasLive } = await expire(keysOf(u, transferId), { transferId });
      return expired ? { generations: generationsOf(relay), wasLive } : null;
    },
  };

  function recordKeys(u: string, transferId: string) {
    return {
      record: keys.transfer(u, transferId),
      files: keys.transferFiles(u, transferId),
      sealed: keys.transferSealed(u, transferId),
    };
  }

  function keysOf(u: string, transferId: string) {
    return keys.inAccount(u, recordKeys(u, transferId));
  }

  function offer(u: string, deviceId: string, transfer: NewTransfer) {
    const { target, transferId, files, sealed, isGuest, operation } = transfer;
    return init(
      keys.inAccount(u, {
        ...recordKeys(u, transferId),
        operation: keys.operation(u, deviceId, operation.id),
        rate: keys.rate(u, 'transfer', deviceId),
        accountRate: keys.rate(u, 'transfer', ACCOUNT),
      }),
      (pushes) => ({
        sender: deviceId,
        target,
        transferId,
        files: files.inRecord,
        count: files.count,
        bytes: files.totalBytes,
        sealed: sealed ?? '',
        longList: files.long,
        brief: files.brief,
        quotaBytes: files.quotaBytes + (sealed?.length ?? 0),
        scope: isGuest ? 'guest' : 'full',
        fingerprint: operation.fingerprint,
        rememberSeconds: rememberSeconds(operation),
        dead: replica.deadChannels(),
        lateMs: replica.lateMs(),
        pushes,
      }),
    );
  }

  async function moveTo(
    u: string,
    { transferId, index }: FileOf,
    { from, to, offset, tells }: { from: number | null; to: number; offset: number; tells: boolean },
  ): Promise<{ now: number; isNew: boolean }> {
    const {
      generation: now,
      refusingState,
      isNew,
    } = await setGeneration(keysOf(u, transferId), {
      file: index,
      knownGeneration: from,
      generation: to,
      offset,
      tells,
    });
    checkAllowed(refusingState);
    return { now, isNew };
  }
}

export type TransferStore = ReturnType<typeof makeTransferStore>;
