import type { BatonError } from '../../../shared/contract/errors.ts';
import type { BulkLink } from '../redis/bulk/bulk-link.ts';
import type { BulkStore, LinkScript } from '../redis/bulk/bulk-store.ts';
import { storeFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Db } from '../redis/db.ts';
import type { BulkReply, RangeSink } from '../redis/bulk/range-reader.ts';
import type { Raw, Word } from '../../../shared/service-kit/redis/scripts/script-values.ts';
import { type Claim, type FileId, type FileRef, nameOf, type RelayRequest } from './requests/relay-request.ts';
import {
  relayCommit,
  relayCreate,
  relayDrop,
  relayEvict,
  relayKeep,
  relayLeave,
  relayOpen,
  relayRead,
  relayReaders,
  relayRelease,
  relayReserve,
  relayTake,
  relayUnread,
  relayWaitRead,
  relayWaitWrite,
} from './scripts.ts';

/** How a request begins. */
export interface Entry {
  /** `w`: to send; `r`: to read; `-`: only to find out where the file is. */
  side: 'w' | 'r' | '-';
  /** Offset from which it sends or reads. A sender at another offset than the end only finds out. */
  from: number;
  /** Offset before which a reader does not ask for bytes again. */
  keepFrom?: number;
  /** Whether the request renews the time to live of the file. */
  keepsAlive?: boolean;
}

export interface Extent {
  readonly generation: number;
  /** Offset up to which bytes are here. */
  readonly end: number;
  /** Offset of the oldest byte that is still kept. */
  readonly kept: number;
  /** Offset up to which the receiver has taken bytes. */
  readonly taken: number;
  /** Offset at which the generation begins. */
  readonly base: number;
}

export type Opened =
  /** The store has nothing of the generation: it lost it, or it has expired. */
  { found: 'lost' } | { found: 'newer'; generation: number } | { found: 'here'; extent: Extent; replaced: string };

/** A request for a file, with the channel of its replica, or ''. */
interface Party {
  readonly file: FileId;
  readonly channel: string;
}

interface Chunk {
  generation: number;
  start: number;
  end: number;
  /** Its bytes, which must stay as they are until the store has answered. */
  parts: readonly Buffer[];
  /** Whether to notify a waiting reader even of few bytes. */
  urgent: boolean;
}

/** The result of a chunk. */
export type Committed = ReturnType<typeof relayCommit.read>;

/** A report of a receiver. */
export interface Taking {
  generation: number;
  /** Offset up to which bytes were taken. */
  position: number;
  /** Offset before which bytes may be dropped. */
  keepFrom: number;
  /** How long the rest is kept; the usual time when absent. */
  liveMs?: number | undefined;
}

/** The answer to a report. */
export type Taken = ReturnType<typeof relayTake.read>;

interface Reading {
  generation: number;
  position: number;
  sink: RangeSink;
  /** Report to send in the same write. If it fails, `onTaken` is not called, and the next report makes up for it. */
  taking: Taking | null;
  onTaken: (taken: Taken) => void;
}

/** A request that waits until the file is there. */
interface Wait {
  generation: number;
  /** Offset up to which bytes have to be there, or be taken, for the request to be notified. */
  wanted: number;
}

type AnyLinkScript = Pick<LinkScript<never, never, unknown>, 'sha' | 'text' | 'keyCount' | 'knownOn'>;

/** Channels of the sender of a file and of its reader. */
const channelsOf = ({ sender, reader }: { sender: string; reader: string }): string[] => [sender, reader];

interface RelayStoreParts extends Pick<Db, 'scripts' | 'keys'> {
  bulk: BulkStore;
  /** Time after which an untouched file expires. */
  idleMs: number;
}

const READ_CHUNKS = 4;

/**
 * Returns the fault that a failed command of a bulk connection means. A cluster that is moving the slot, or a
 * transaction with a refused command, is not an error of this service.
 */
function bulkFault(error: unknown): BatonError {
  const text = error instanceof Error ? error.message : '';
  return storeFault(/^(MOVED|ASK|EXECABORT) /.test(text) ? new Error(text) : error);
}

/** Sends a script by its digest if this connection has sent it before. */
function scriptWords(link: BulkLink, { sha, text, keyCount, knownOn }: AnyLinkScript, words: Word[]): Word[] {
  const isKnown = knownOn.has(link);
  knownOn.add(link);
  return [...(isKnown ? ['EVALSHA', sha] : ['EVAL', text]), keyCount, ...words];
}

type RelayScriptParts = RelayStoreParts & {
  /** Time to live as a string, because Redis does not accept a time with an exponent. */
  idle: { IDLE_MS: string };
};

/** Makes the methods for the bytes of files and their requests, which are in the relay's own store, by file. */
function makeByteStore({ bulk, keys, idleMs, idle }: RelayScriptParts) {
  const open = bulk.scripts.define(relayOpen, idle);
  const create = bulk.scripts.define(relayCreate, idle);
  const waitRead = bulk.scripts.define(relayWaitRead, idle);
  const waitWrite = bulk.scripts.define(relayWaitWrite, idle);
  const take = bulk.scripts.define(relayTake);
  const leave = bulk.scripts.define(relayLeave);
  const drop = bulk.scripts.define(relayDrop);
  const evict = bulk.scripts.define(relayEvict);
  const commit = bulk.linkScript(relayCommit, idle);
  const takeOnLink = bulk.linkScript(relayTake);

  const stateOf = ({ transferId, index }: FileId) => keys.relayState(transferId, index);
  const bytesOf = ({ transferId, index }: FileId, generation: number) => keys.relayBytes(transferId, index, generation);
  const keysOf = (file: FileId, generation: number) => ({ state: stateOf(file), bytes: bytesOf(file, generation) });
  const takeArgs = (token: string, { position, keepFrom, liveMs = idleMs }: Taking) => ({
    token,
    position,
    keepFrom,
    liveMs,
  });

  return {
    /** Begins a request, or only finds out where the file is. */
    async open({ file, holder }: Claim, generation: number, entry: Entry): Promise<Opened> {
      const { side, from, keepFrom = 0, keepsAlive = side !== '-' } = entry;
      const { token, channel } = holder;
      const position = side === '-' ? null : from;
      const args = { generation, side, token, channel, from: position, keepsAlive, keepFrom };
      const opened = await open(keysOf(file, generation), args);
      if (opened.found !== 'here') return opened;
      const { found, replaced, generation: now, end, kept, taken, base } = opened;
      return { found, replaced, extent: { generation: now, end, kept, taken, base } };
    },

    /** Makes a generation. Resolves to the channels of requests that have to begin again or go on at another offset. */
    async create(file: FileId, generation: number, base: number): Promise<string[]> {
      const before = bytesOf(file, Math.max(0, generation - 1));
      return channelsOf(await create({ ...keysOf(file, generation), before }, { generation, base }));
    },

    /** Takes a link for the bytes of this file. Throws `store_unavailable`. */
    link: (file: FileId): Promise<BulkLink> => bulk.take(stateOf(file)),

    /**
     * Adds a chunk where the bytes end, and finds out whom to notify. Both are one transaction, which costs one trip,
     * and nobody sees a chunk that may not stay. Rejects with the store's own errors.
     */
    async append(link: BulkLink, { file, holder }: Claim, chunk: Chunk): Promise<Committed> {
      const { generation, start, end, parts, urgent } = chunk;
      const args = { token: holder.token, start, chunkEnd: end, urgent };
      const words = commit.words(keysOf(file, generation), args);
      const add = ['XADD', bytesOf(file, generation), 'NOMKSTREAM', `${end}-0`, 'd'];
      const replies = await link.transaction(add, parts, scriptWords(link, commit, words));
      const [added, committed] = replies as BulkReply[];
      if (added instanceof Error) throw added;
      if (added === null) return { taken: null, notify: '', waiting: '' };
      let reply = committed;
      if (committed instanceof Error) {
        if (!committed.message.startsWith('NOSCRIPT')) throw committed;
        reply = await link.command(['EVAL', commit.text, commit.keyCount, ...words]);
      }
      return commit.read(reply as Raw[]);
    },

    /** Reads on from `position`; resolves to the number of chunks that came. Throws `store_unavailable`. */
    async range(link: BulkLink, { file, holder }: Claim, reading: Reading): Promise<number> {
      const { generation, position, sink, taking, onTaken } = reading;
      const words = ['XRANGE', bytesOf(file, generation), `(${position}-0`, '+', 'COUNT', READ_CHUNKS];
      const report = taking && takeOnLink.words(keysOf(file, generation), takeArgs(holder.token, taking));
      const { first, reply } = link.range(words, sink, report && scriptWords(link, takeOnLink, report));
      first?.then(
        (taken) => onTaken(takeOnLink.read(taken as Raw[])),
        () => takeOnLink.knownOn.delete(link),
      );
      const range = await reply.catch((error: unknown) => {
        throw bulkFault(error);
      });
      return Array.isArray(range) ? range.length : 0;
    },

    /** Reports what the reader has taken. */
    take: ({ file, holder }: Claim, taking: Taking): Promise<Taken> =>
      take(keysOf(file, taking.generation), takeArgs(holder.token, taking)),

    /** Records that the receiver's device has stored the file up to here, whichever request has read it. */
    acknowledge: (file: FileId, generation: number, position: number): Promise<Taken> =>
      take(keysOf(file, generation), takeArgs('', { generation, position, keepFrom: position })),

    /** Finds out what there is behind a position. If there is nothing, the request is notified when there is. */
    waitRead({ file, holder }: Claim, { generation, position, wanted }: Wait & { position: number }) {
      const { token, channel } = holder;
      return waitRead(keysOf(file, generation), { token, channel, generation, position, wanted });
    },

    /** Finds out in the same way what space a sender has. `taken` is null when another request sends now. */
    waitWrite({ file, holder }: Claim, { generation, wanted }: Wait) {
      const { token, channel } = holder;
      return waitWrite(keysOf(file, generation), { token, channel, generation, wanted });
    },

    /** Ends a request, so that the next one replaces nobody. */
    async leave({ file, holder }: Claim, side: 'w' | 'r'): Promise<void> {
      await leave({ state: stateOf(file) }, { side, token: holder.token });
    },

    /** Removes a file; resolves to the channels of its requests. */
    async drop(file: FileId, generation: number): Promise<string[]> {
      return channelsOf(await drop(keysOf(file, generation), {}));
    },

    /** Removes the bytes of a generation, and the state unless the file is in another generation. */
    async evict(file: FileId, generation: number): Promise<string[]> {
      return channelsOf(await evict(keysOf(file, generation), { generation }));
    },

    memoryPercent: (file: FileId): Promise<number> => bulk.memoryPercent(stateOf(file)),
  };
}

/**
 * Makes the methods for the lists of an account, which are in the accounts' store: the files it has in the relay and
 * those it reads.
 */
function makeListStore({ scripts, keys, idle }: RelayScriptParts) {
  const reserve = scripts.define(relayReserve, idle);
  const release = scripts.define(relayRelease);
  const keep = scripts.define(relayKeep, idle);
  const read = scripts.define(relayRead, idle);
  const unread = scripts.define(relayUnread);
  const readers = scripts.define(relayReaders);
  const listsOf = (account: string) => ({ files: keys.relayFiles(account), kept: keys.relayKept(account) });

  return {
    /**
     * Takes or renews a reservation for `idleMs`; resolves to whether the file had none. Throws `relay_busy` when the
     * account has too many.
     */
    async reserve(file: FileRef): Promise<boolean> {
      const { isNew } = await reserve(listsOf(file.account), { file: nameOf(file) });
      return isNew;
    },

    async release(account: string, files: readonly FileId[]): Promise<void> {
      if (files.length > 0) await release(listsOf(account), { files: files.map(nameOf) });
    },

    /**
     * Keeps the bytes of a file without a reservation; with `gives` its reservation is released. Only the newest files
     * of an account are kept. Resolves to the others, which the caller evicts.
     */
    async keep(file: FileRef, generation: number, gives: boolean): Promise<{ file: FileId; generation: number }[]> {
      const { gone } = await keep(listsOf(file.account), { file: nameOf(file), generation, gives });
      return gone.map((name) => {
        const [transferId = '', index, last] = name.split('/');
        return { file: { transferId, index: Number(index) }, generation: Number(last) };
      });
    },

    /**
     * Takes or renews a reservation among the files that the account reads. Resolves to null when another request reads
     * this one now, else to the channel of the replaced request, or ''. Throws `relay_busy`.
     */
    async read({ file, holder }: RelayRequest, begins: boolean): Promise<string | null> {
      const { token, channel } = holder;
      const its = { ...listsOf(file.account), reads: keys.relayReads(file.account) };
      const { held, replaced } = await read(its, { file: nameOf(file), token, channel, begins });
      return held ? replaced : null;
    },

    async unread({ file, holder }: RelayRequest): Promise<void> {
      await unread({ reads: keys.relayReads(file.account) }, { file: nameOf(file), token: holder.token });
    },

    /** Returns the requests that read a file or wait for it; without an index, those of all files of the transfer. */
    async readers(account: string, transferId: string, index: number | '' = ''): Promise<Party[]> {
      const its = { reads: keys.relayReads(account) };
      const { readers: found } = await readers(its, { prefix: `${transferId}/${index}` });
      return found.map(({ file, channel }) => ({ file: { transferId, index: Number(file.split('/')[1]) }, channel }));
    },
  };
}

/** Makes the store of the relay: bytes and requests by file, and the lists of each account in the account's slot. */
export function makeRelayStore(parts: RelayStoreParts) {
  const { bulk, idleMs } = parts;
  const all = { ...parts, idle: { IDLE_MS: String(idleMs) } };
  return { bulk, idleMs, ...makeByteStore(all), ...makeListStore(all), fault: bulkFault };
}

export type RelayStore = ReturnType<typeof makeRelayStore>;
