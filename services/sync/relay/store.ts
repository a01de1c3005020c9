import { fileURLToPath } from 'node:url';
import type { BatonError } from '../../../shared/contract/errors.ts';
import type { BulkLink } from '../redis/bulk-link.ts';
import type { BulkStore, LinkScript } from '../redis/bulk-store.ts';
import { storeFault } from '../redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import type { BulkReply, RangeSink } from '../redis/range-reader.ts';
import type { ScriptLoader } from '../redis/scripts.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

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
  readonly ring: string;
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
  readonly ring: string;
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

interface RelayStoreParts {
  bulk: BulkStore;
  /** Of the store that holds the accounts. */
  scripts: ScriptLoader;
  keys: Keys;
  /** What nobody touches for so long is dropped. */
  idleMs: number;
}

const READ_CHUNKS = 4;

/** A place of a reader outlives looks that come late, and its replica not for long. Its longest stall time counts thrice. */
const READ_PLACE_MS = 210_000;

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
  const load = (name: string) => bulk.scripts.load(`relay-${name}.lua`, import.meta.url);
  const [open, create, take, leave, waitRead, waitWrite, drop] = [
    ...[load('open'), load('create'), load('take'), load('leave')],
    ...[load('wait-read'), load('wait-write'), load('drop')],
  ] as const;
  const evict = load('evict');
  const loadForAccount = (name: string) => scripts.load(`relay-${name}.lua`, import.meta.url);
  const [reserve, release, keep] = [loadForAccount('reserve'), loadForAccount('release'), loadForAccount('keep')];
  const [read, unread, readers] = [loadForAccount('read'), loadForAccount('unread'), loadForAccount('readers')];
  const loadForLinks = (name: string) =>
    bulk.linkScript(fileURLToPath(new URL(`./relay-${name}.lua`, import.meta.url)));
  const [note, takeOnLink] = [loadForLinks('note'), loadForLinks('take')];
  const state = ({ transferId, index }: FileRef) => keys.relayState(transferId, index);
  const bytes = ({ transferId, index }: FileRef, generation: number) => keys.relayBytes(transferId, index, generation);
  const both = (file: FileRef, generation: number) => [state(file), bytes(file, generation)];
  const places = (account: string) => [keys.relayFiles(account), keys.relayKept(account)];
  /** By its digest where this connection has sent it before. */
  function scriptWords(link: BulkLink, { sha, text, knownOn }: LinkScript, keysAndArgs: (string | number)[]) {
    const isKnown = knownOn.has(link);
    knownOn.add(link);
    return [...(isKnown ? ['EVALSHA', sha] : ['EVAL', text]), 2, ...keysAndArgs];
  }

  const takeArgs = ({ token, position, keepFrom, ms = idleMs }: Taking) => [token, position, keepFrom, ms];
  const takenOf = ([held, ring, got]: string[]): Taken => ({
    held: held === '1',
    ring: ring as string,
    got: Number(got),
  });

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
      const [found, g, end, kept, taken, base, replaced] = (await open(both(file, generation), [
        ...[generation, side, holder.token, holder.channel, side === '-' ? '' : from],
        ...[keepsAlive ? idleMs : '', keepFrom],
      ])) as string[];
      if (found === 'lost') return { found };
      if (found === 'newer') return { found, generation: Number(g) };
      if (found !== 'here') throw new Error(`relay-open answered ${found}`);
      const extent = { generation: Number(g), end: Number(end), kept: Number(kept) };
      return { found, replaced: replaced as string, extent: { ...extent, taken: Number(taken), base: Number(base) } };
    },

    /** Channels of who has to begin anew, or go on elsewhere. */
    async create(file: FileRef, generation: number, base: number): Promise<string[]> {
      const before = Math.max(0, generation - 1);
      return (await create(
        [state(file), bytes(file, before), bytes(file, generation)],
        [generation, base, idleMs],
      )) as string[];
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
      const args = [token, start, end, urgent ? 1 : 0, idleMs];
      const add = ['XADD', bytes(file, generation), 'NOMKSTREAM', `${end}-0`, 'd'];
      const replies = await link.transaction(add, parts, scriptWords(link, note, [...both(file, generation), ...args]));
      const [added, noted] = replies as BulkReply[];
      if (added instanceof Error) throw added;
      if (added === null) return { taken: null, ring: '', waiting: '' };
      let reply = noted;
      if (noted instanceof Error) {
        if (!noted.message.startsWith('NOSCRIPT')) throw noted;
        reply = await link.command(['EVAL', note.text, 2, ...both(file, generation), ...args]);
      }
      const [, taken, ring, waiting] = reply as string[];
      return { taken: taken === '' ? null : Number(taken), ring: ring as string, waiting: waiting as string };
    },

    /** Reads on from `position`; the number of chunks that came. Throws `store_unavailable`. */
    async range(link: BulkLink, file: FileRef, generation: number, { position, sink, taking, hear }: Reading) {
      const words = ['XRANGE', bytes(file, generation), `(${position}-0`, '+', 'COUNT', READ_CHUNKS];
      const tell = taking && scriptWords(link, takeOnLink, [...both(file, generation), ...takeArgs(taking)]);
      const { first, reply } = link.range(words, sink, tell);
      first?.then(
        (told) => hear(takenOf((told as string[]).slice(1))),
        () => takeOnLink.knownOn.delete(link),
      );
      const range = await reply.catch((error: unknown) => {
        throw bulkFault(error);
      });
      return Array.isArray(range) ? range.length : 0;
    },

    async take(file: FileRef, generation: number, taking: Taking): Promise<Taken> {
      return takenOf((await take(both(file, generation), takeArgs(taking))) as string[]);
    },

    async waitRead(file: FileRef, generation: number, { token, channel }: Holder, position: number, wanted: number) {
      const args = [token, generation, position, wanted, idleMs, channel];
      const [word, now, begun] = (await waitRead(both(file, generation), args)) as string[];
      return {
        word: word as 'lost' | 'newer' | 'replaced' | 'go' | 'wait',
        generation: Number(now),
        hasBegun: begun === '1',
      };
    },

    /** `taken`: null when another request sends now. */
    async waitWrite(file: FileRef, generation: number, { token, channel }: Holder, wanted: number) {
      const reply = (await waitWrite(both(file, generation), [token, generation, wanted, idleMs, channel])) as string[];
      return { taken: reply[0] === '' ? null : Number(reply[0]), ring: reply[1] as string };
    },

    /** A request ends: who comes next replaces nobody. */
    async leave(file: FileRef, side: 'w' | 'r', token: string): Promise<void> {
      await leave([state(file)], [side, token]);
    },

    /** Channels of who was at it. */
    async drop(file: FileRef, generation: number): Promise<string[]> {
      return (await drop(both(file, generation), [])) as string[];
    },

    memoryPercent: (file: FileRef): Promise<number> => bulk.memoryPercent(state(file)),

    /** A place for `idleMs` from now; whether the file had none. Throws `relay_busy`: the account has too many here. */
    async reserve(account: string, file: FileRef): Promise<boolean> {
      const [isNew] = await reserve(places(account), [nameOf(file), LIMITS.relayFiles, idleMs]);
      return isNew === '1';
    },

    async release(account: string, files: readonly FileRef[]): Promise<void> {
      if (files.length > 0) await release(places(account), files.map(nameOf));
    },

    /**
     * What a file has here is kept without a place, and with `gives` its own is free; of an account's only the newest are
     * kept, and the others are dropped. Resolves to who was at those.
     */
    async keep(account: string, file: FileRef, generation: number, gives: boolean): Promise<Told[]> {
      const args = [nameOf(file), generation, LIMITS.relayKeptFiles, idleMs, gives ? 1 : 0];
      const gone = ((await keep(places(account), args)) as string[]).map((name) => {
        const [transferId = '', index, old] = name.split('/');
        return { gone: { transferId, index: Number(index) }, old: Number(old) };
      });
      const told = await Promise.all(
        gone.map(async ({ gone: left, old }) =>
          ((await evict(both(left, old), [old])) as string[]).map((channel) => ({ file: left, channel })),
        ),
      );
      return told.flat();
    },

    /**
     * A place among the files that the account reads. Null: another request reads this one now; else the channel of the
     * one replaced, or ''. Throws `relay_busy`.
     */
    async read(account: string, file: FileRef, { token, channel }: Holder, begins: boolean): Promise<string | null> {
      const lasts = [READ_PLACE_MS, idleMs, begins ? 1 : 0];
      const [held, replaced] = (await read(
        [keys.relayReads(account), ...places(account)],
        [nameOf(file), token, channel, LIMITS.relayReads, ...lasts],
      )) as string[];
      return held === '1' ? (replaced as string) : null;
    },

    async unread(account: string, file: FileRef, token: string): Promise<void> {
      await unread([keys.relayReads(account)], [nameOf(file), token]);
    },

    /** Who reads a file, or waits for it; without an index those of all files of the transfer. */
    async readers(account: string, transferId: string, index: number | '' = ''): Promise<Told[]> {
      const found = (await readers([keys.relayReads(account)], [`${transferId}/${index}`])) as string[];
      return Array.from({ length: found.length / 2 }, (_, i) => ({
        file: { transferId, index: Number(found[2 * i]?.split('/')[1]) },
        channel: found[2 * i + 1] as string,
      }));
    },

    fault: bulkFault,
  };
}

export type RelayStore = ReturnType<typeof makeRelayStore>;
