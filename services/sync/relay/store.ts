import type { BatonError } from '../../../shared/contract/errors.ts';
import type { BulkLink } from '../redis/bulk/bulk-link.ts';
import type { BulkStore, LinkScript } from '../redis/bulk/bulk-store.ts';
import { storeFault } from '../../server/redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import type { BulkReply, RangeSink } from '../redis/bulk/range-reader.ts';
import type { ScriptLoader } from '../../server/redis/scripts/scripts.ts';
import type { Raw, Word } from '../../server/redis/scripts/script-values.ts';
import {
  relayCreate,
  relayDrop,
  relayEvict,
  relayKeep,
  relayLeave,
  relayNote,
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

/** One file of one transfer. */
export interface FileRef {
  readonly transferId: string;
  readonly index: number;
}

/** How a file is named on the bus and among an account's active files. */
export const nameOf = ({ transferId, index }: FileRef): string => `${transferId}/${index}`;

/** Who does it: one request on one replica. */
export interface Holder {
  readonly token: string;
  readonly channel: string;
}

export interface Extent {
  readonly generation: number;
  /** Offset up to which bytes are here. */
  readonly end: number;
  /** The oldest byte that can still be had. */
  readonly kept: number;
  /** What the receiver has taken. */
  readonly taken: number;
  readonly base: number;
}

export type Opened =
  /** There is nothing of the generation: the store lost it, or its time was over. */
  { found: 'lost' } | { found: 'newer'; generation: number } | { found: 'here'; extent: Extent; replaced: string };

/** Somebody at a file, by the channel of its replica, or ''. */
export interface Told {
  readonly file: FileRef;
  readonly channel: string;
}

/** What became of a chunk. */
export interface Noted {
  /** Null: it was refused, because another request sends now, or because the one before it is not there. */
  readonly taken: number | null;
  readonly notify: string;
  /** The channel of a reader that waits for more than there is, or ''. */
  readonly waiting: string;
}

/** What a receiver tells. */
export interface Taking {
  token: string;
  /** Taken up to here. */
  position: number;
  keepFrom: number;
  /** To live; the usual time when absent. */
  ms?: number | undefined;
}

/** What a receiver that has told is told. */
export interface Taken {
  /** False: another request reads now. */
  readonly held: boolean;
  /** A sender that waits for room, or ''. */
  readonly notify: string;
  /** Up to where everything was taken, by this reader and those before. */
  readonly got: number;
}

interface Reading {
  position: number;
  sink: RangeSink;
  /** Told on the way, and costs no trip; `hear` is not called where that failed, which the next one makes good. */
  taking: Taking | null;
  hear: (taken: Taken) => void;
}

interface Chunk {
  start: number;
  end: number;
  /** Its bytes, which must stay as they are until the store has answered. */
  parts: readonly Buffer[];
  /** Of the request that sends. */
  token: string;
  /** A reader is to be told whatever it waits for. */
  urgent: boolean;
}

/** A begin: where a request sends or reads from. */
interface From {
  from: number;
  /** Of a reader: what lies before this it does not ask for again. */
  keepFrom?: number;
  /** False: what is there is not kept any longer because of it. */
  keepsAlive?: boolean;
}

type AnyLinkScript = Pick<LinkScript<never, never, unknown>, 'sha' | 'text' | 'keyCount' | 'knownOn'>;

/** Channels of the sender of a file and of its reader. */
const channelsOf = ({ sender, reader }: { sender: string; reader: string }): string[] => [sender, reader];

interface RelayStoreParts {
  bulk: BulkStore;
  /** Of the store that holds the accounts. */
  scripts: ScriptLoader;
  keys: Keys;
  /** What nobody touches for so long is dropped. */
  idleMs: number;
}

const READ_CHUNKS = 4;

/**
 * What a failed command of a bulk connection means. Of a cluster that is just moving the slot, or a transaction of which
 * a command was refused: not an error of ours.
 */
function bulkFault(error: unknown): BatonError {
  const text = error instanceof Error ? error.message : '';
  return storeFault(/^(MOVED|ASK|EXECABORT) /.test(text) ? new Error(text) : error);
}

/** Bytes on their way, and where both sides are. One store for bytes; one script of it lies in the account's slot. */
export function makeRelayStore({ bulk, scripts, keys, idleMs }: RelayStoreParts) {
  // A text, because the store takes no number with an exponent for a time.
  const idle = { IDLE_MS: String(idleMs) };
  const [open, create] = [bulk.scripts.define(relayOpen, idle), bulk.scripts.define(relayCreate, idle)];
  const [waitRead, waitWrite] = [bulk.scripts.define(relayWaitRead, idle), bulk.scripts.define(relayWaitWrite, idle)];
  const [take, leave] = [bulk.scripts.define(relayTake), bulk.scripts.define(relayLeave)];
  const [drop, evict] = [bulk.scripts.define(relayDrop), bulk.scripts.define(relayEvict)];
  const [reserve, release] = [scripts.define(relayReserve, idle), scripts.define(relayRelease)];
  const [keep, read] = [scripts.define(relayKeep, idle), scripts.define(relayRead, idle)];
  const [unread, readers] = [scripts.define(relayUnread), scripts.define(relayReaders)];
  const [note, takeOnLink] = [bulk.linkScript(relayNote, idle), bulk.linkScript(relayTake)];
  const state = ({ transferId, index }: FileRef) => keys.relayState(transferId, index);
  const bytes = ({ transferId, index }: FileRef, generation: number) => keys.relayBytes(transferId, index, generation);
  const both = (file: FileRef, generation: number) => ({ state: state(file), bytes: bytes(file, generation) });

  const places = (account: string) => ({ files: keys.relayFiles(account), kept: keys.relayKept(account) });
  const takeArgs = ({ token, position, keepFrom, ms = idleMs }: Taking) => ({ token, position, keepFrom, liveMs: ms });

  /** By its digest where this connection has sent it before. */
  function scriptWords(link: BulkLink, { sha, text, keyCount, knownOn }: AnyLinkScript, words: Word[]): Word[] {
    const isKnown = knownOn.has(link);
    knownOn.add(link);
    return [...(isKnown ? ['EVALSHA', sha] : ['EVAL', text]), keyCount, ...words];
  }

  return {
    bulk,
    idleMs,

    /**
     * Begins a request, or looks (`side` `-`). `from`: where it sends or reads from; what would send from elsewhere
     * than the end only looks.
     */
    async open(
      file: FileRef,
      generation: number,
      side: 'w' | 'r' | '-',
      holder: Holder,
      { from, keepFrom = 0, keepsAlive = side !== '-' }: From,
    ): Promise<Opened> {
      const { token, channel } = holder;
      const opened = await open(both(file, generation), {
        generation,
        side,
        token,
        channel,
        from: side === '-' ? null : from,
        keepsAlive,
        keepFrom,
      });
      if (opened.found !== 'here') return opened;
      const { found, replaced, generation: now, end, kept, taken, base } = opened;
      return { found, replaced, extent: { generation: now, end, kept, taken, base } };
    },

    /** Channels of who has to begin anew, or go on elsewhere. */
    async create(file: FileRef, generation: number, base: number): Promise<string[]> {
      const before = bytes(file, Math.max(0, generation - 1));
      return channelsOf(await create({ ...both(file, generation), before }, { generation, base }));
    },

    /** A link for the bytes of this file. Throws `store_unavailable`. */
    link: (file: FileRef): Promise<BulkLink> => bulk.take(state(file)),

    /**
     * Adds a chunk where the bytes end, and tells whom it concerns: one transaction, so that nobody sees one that may not
     * stay, and one trip. Rejects with the store's own errors.
     */
    async append(
      link: BulkLink,
      file: FileRef,
      generation: number,
      { start, end, parts, token, urgent }: Chunk,
    ): Promise<Noted> {
      const words = note.words(both(file, generation), { token, start, chunkEnd: end, urgent });
      const add = ['XADD', bytes(file, generation), 'NOMKSTREAM', `${end}-0`, 'd'];
      const replies = await link.transaction(add, parts, scriptWords(link, note, words));
      const [added, noted] = replies as BulkReply[];
      if (added instanceof Error) throw added;
      if (added === null) return { taken: null, notify: '', waiting: '' };
      let reply = noted;
      if (noted instanceof Error) {
        if (!noted.message.startsWith('NOSCRIPT')) throw noted;
        reply = await link.command(['EVAL', note.text, note.keyCount, ...words]);
      }
      return note.read(reply as Raw[]);
    },

    /** Reads on from `position`; the number of chunks that came. Throws `store_unavailable`. */
    async range(link: BulkLink, file: FileRef, generation: number, { position, sink, taking, hear }: Reading) {
      const words = ['XRANGE', bytes(file, generation), `(${position}-0`, '+', 'COUNT', READ_CHUNKS];
      const tell = taking && scriptWords(link, takeOnLink, takeOnLink.words(both(file, generation), takeArgs(taking)));
      const { first, reply } = link.range(words, sink, tell);
      first?.then(
        (told) => hear(takeOnLink.read(told as Raw[])),
        () => takeOnLink.knownOn.delete(link),
      );
      const range = await reply.catch((error: unknown) => {
        throw bulkFault(error);
      });
      return Array.isArray(range) ? range.length : 0;
    },

    take: (file: FileRef, generation: number, taking: Taking): Promise<Taken> =>
      take(both(file, generation), takeArgs(taking)),

    waitRead: (file: FileRef, generation: number, { token, channel }: Holder, position: number, wanted: number) =>
      waitRead(both(file, generation), { token, channel, generation, position, wanted }),

    /** `taken`: null when another request sends now. */
    waitWrite: (file: FileRef, generation: number, { token, channel }: Holder, wanted: number) =>
      waitWrite(both(file, generation), { token, channel, generation, wanted }),

    /** A request ends: who comes next replaces nobody. */
    async leave(file: FileRef, side: 'w' | 'r', token: string): Promise<void> {
      await leave({ state: state(file) }, { side, token });
    },

    /** Channels of who was at it. */
    async drop(file: FileRef, generation: number): Promise<string[]> {
      return channelsOf(await drop(both(file, generation), {}));
    },

    memoryPercent: (file: FileRef): Promise<number> => bulk.memoryPercent(state(file)),

    /** A place for `idleMs` from now; whether the file had none. Throws `relay_busy`: the account has too many here. */
    async reserve(account: string, file: FileRef): Promise<boolean> {
      const { isNew } = await reserve(places(account), { file: nameOf(file) });
      return isNew;
    },

    async release(account: string, files: readonly FileRef[]): Promise<void> {
      if (files.length > 0) await release(places(account), { files: files.map(nameOf) });
    },

    /**
     * What a file has here is kept without a place, and with `gives` its own is free; of an account's only the newest are
     * kept, and the others are dropped. Resolves to who was at those.
     */
    async keep(account: string, file: FileRef, generation: number, gives: boolean): Promise<Told[]> {
      const { gone } = await keep(places(account), { file: nameOf(file), generation, gives });
      const told = gone.map(async (name) => {
        const [transferId = '', index, last] = name.split('/');
        const [left, old] = [{ transferId, index: Number(index) }, Number(last)];
        const channels = channelsOf(await evict(both(left, old), { generation: old }));
        return channels.map((channel) => ({ file: left, channel }));
      });
      return (await Promise.all(told)).flat();
    },

    /**
     * A place among the files that the account reads. Null: another request reads this one now; else the channel of the
     * one replaced, or ''. Throws `relay_busy`.
     */
    async read(account: string, file: FileRef, { token, channel }: Holder, begins: boolean): Promise<string | null> {
      const { files, kept } = places(account);
      const its = { files, kept, reads: keys.relayReads(account) };
      const { held, replaced } = await read(its, { file: nameOf(file), token, channel, begins });
      return held ? replaced : null;
    },

    async unread(account: string, file: FileRef, token: string): Promise<void> {
      await unread({ reads: keys.relayReads(account) }, { file: nameOf(file), token });
    },

    /** Who reads a file, or waits for it; without an index those of all files of the transfer. */
    async readers(account: string, transferId: string, index: number | '' = ''): Promise<Told[]> {
      const its = { reads: keys.relayReads(account) };
      const { readers: found } = await readers(its, { prefix: `${transferId}/${index}` });
      return found.map(({ file, channel }) => ({
        file: { transferId, index: Number(file.split('/')[1]) },
        channel,
      }));
    },

    fault: bulkFault,
  };
}

export type RelayStore = ReturnType<typeof makeRelayStore>;
