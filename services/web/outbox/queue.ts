import type { Database, Item } from '../history/database.ts';
import type { InTurn } from '../history/history.ts';
import { newId } from '../../../shared/client/new-id.ts';

/*
 * The items to send that have no response yet, in the order of writing. They lie among the settings of the history. So an
 * existing database needs no new version, a tab of the previous version stays open beside this one, and signing out removes
 * them with everything else. An item and its place here change in one transaction.
 */
const KEY = 'sealed-outbox';
/**
 * The line of a version that knows no keys. Its tab would send everything in it unencrypted, so this version takes it over,
 * and writes its own line elsewhere.
 */
const OLD_KEY = 'outbox';
const EARLY = 'delivered-early';
const MOST_EARLY = 200;

interface Envelope {
  readonly epoch: number;
  readonly sealed: string;
  /** The public key of the receiver at that time. */
  readonly enc?: string | undefined;
  /** The key of sealed files, and the digest of what it was made for. */
  readonly key?: string;
  readonly of?: string;
}

export interface Waiting {
  /** The id of the item in the history. */
  readonly id: string;
  readonly kind: Item['kind'];
  readonly to: string;
  /** The same key for each attempt, so that the service takes the item once. Stored before the first attempt. */
  readonly key: string;
  /** When the first attempt began that may have arrived; null without one. */
  readonly unknownSince: number | null;
  /** The device that made the attempt, because the service keeps the keys of each device apart. */
  readonly triedBy: string | null;
  /** The sealed text, and the number of the account's key at that time. Each attempt sends the same text. */
  readonly envelope?: Envelope | undefined;
}

const entryOf = ({ id, kind, thread }: Item): Waiting => ({
  ...{ id, kind, to: thread, key: newId() },
  ...{ unknownSince: null, triedBy: null },
});

export const isWaitingItem = ({ kind, state, isMine, ref }: Item): boolean =>
  isMine && ref === '' && state === (kind === 'message' ? 'sending' : 'preparing');

const begin = (database: Database) => database.transaction(['items', 'settings'], 'readwrite');
type Transaction = ReturnType<typeof begin>;
type Told = (thread: string) => void;
/** Runs one step: all of it is stored, or nothing. */
type InStep = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

/** Reads both lines: the older one first. */
async function readLine(get: (key: string) => Promise<unknown>): Promise<Waiting[]> {
  const [old, own] = [await get(OLD_KEY), await get(KEY)] as (Waiting[] | undefined)[];
  const line = own ?? [];
  return [...(old ?? []).filter(({ id }) => !line.some((one) => one.id === id)), ...line];
}

const inLine = (transaction: Transaction): Promise<Waiting[]> =>
  readLine((key) => transaction.objectStore('settings').get(key));

/** Writes the line, and takes over the older one. */
async function keepLine(transaction: Transaction, line: readonly Waiting[]): Promise<void> {
  const settings = transaction.objectStore('settings');
  await settings.put(line, KEY);
  const old = (await settings.get(OLD_KEY)) as Waiting[] | undefined;
  if (old !== undefined && old.length > 0) await settings.put([], OLD_KEY);
}

const earlyOnes = async (transaction: Transaction): Promise<string[]> =>
  ((await transaction.objectStore('settings').get(EARLY)) as string[] | undefined) ?? [];

/** Takes an entry out of the line; returns the remaining ones, and its item. */
async function takeOut(transaction: Transaction, id: string): Promise<{ left: Waiting[]; item: Item | undefined }> {
  const left = (await inLine(transaction)).filter((one) => one.id !== id);
  await keepLine(transaction, left);
  return { left, item: await transaction.objectStore('items').get(id) };
}

/** Moves waiting items after a sent one, which has the service's time. */
async function moveBehind(transaction: Transaction, line: readonly Waiting[], thread: string, at: number) {
  const items = transaction.objectStore('items');
  for (const [i, { id }] of line.filter(({ kind, to }) => kind === 'message' && to === thread).entries()) {
    const item = await items.get(id);
    if (item !== undefined && item.at <= at + i) await items.put({ ...item, at: at + i + 1 });
  }
}

/**
 * Returns the item at the end of its thread. The service's time is known only to half a second, and a reply must not come
 * before the message that it answers.
 */
async function atTheEnd(transaction: Transaction, item: Item): Promise<Item> {
  const range = IDBKeyRange.bound([item.thread, item.at], [item.thread, Number.MAX_SAFE_INTEGER]);
  const newest = await transaction.objectStore('items').index('place').openCursor(range, 'prev');
  return newest === null || newest.value.id === item.id ? item : { ...item, at: newest.value.at + 1 };
}

/** Makes the line of waiting items. */
function makeLine(database: Database, inStep: InStep, onChange: Told) {
  const all = (): Promise<Waiting[]> => readLine((key) => database.get('settings', key));

  /** Puts an item at the end of the line and of its thread. */
  async function putLast(transaction: Transaction, item: Item): Promise<void> {
    const { left } = await takeOut(transaction, item.id);
    await transaction.objectStore('items').put(await atTheEnd(transaction, item));
    await keepLine(transaction, [...left, entryOf(item)]);
  }

  return {
    all,

    /** Takes over the line of a tab that knows no keys, before it sends more of it. */
    async takeOver(): Promise<void> {
      await inStep(async (transaction) => keepLine(transaction, await inLine(transaction)));
    },

    has: async (id: string): Promise<boolean> => (await all()).some((one) => one.id === id),

    /** Puts a new item at the end of the line. */
    async add(item: Item): Promise<void> {
      await inStep((transaction) => putLast(transaction, item));
      onChange(item.thread);
    },

    /** Puts a known item there again. Resolves to false if its state is not the one that the user saw: a second click. */
    async addAgain(item: Item, seen: Item['state']): Promise<boolean> {
      const isAdded = await inStep(async (transaction) => {
        const known = await transaction.objectStore('items').get(item.id);
        if (known?.state !== seen) return false;
        await putLast(transaction, item);
        return true;
      });
      if (isAdded) onChange(item.thread);
      return isAdded;
    },

    /** Lets two items change places. Nothing happens if one of them no longer waits. */
    async swap(one: string, other: string): Promise<void> {
      const swapped = await inStep(async (transaction) => {
        const line = await inLine(transaction);
        const [first, second] = [one, other].map((id) => line.find((entry) => entry.id === id));
        if (first === undefined || second === undefined) return undefined;
        await keepLine(
          transaction,
          line.map((entry) => (entry === first ? second : entry === second ? first : entry)),
        );
        return first;
      });
      if (swapped !== undefined) onChange(swapped.to);
    },

    /** Takes an item out of the line, and changes it. */
    async settle(id: string, edit: (item: Item) => void): Promise<void> {
      const changed = await inStep(async (transaction) => {
        const { item } = await takeOut(transaction, id);
        if (item === undefined) return undefined;
        edit(item);
        await transaction.objectStore('items').put(item);
        return item;
      });
      if (changed !== undefined) onChange(changed.thread);
    },

    /** Removes the entry with its item. */
    async remove(id: string): Promise<void> {
      const removed = await inStep(async (transaction) => {
        const { item } = await takeOut(transaction, id);
        await transaction.objectStore('items').delete(id);
        return item;
      });
      if (removed !== undefined) onChange(removed.thread);
    },
  };
}

/** Records attempts and their outcomes. */
const makeAttempts = (inStep: InStep, onChange: Told) => ({
  /**
   * Notes an attempt before it begins, because it may arrive from now on. Returns the entry as it is stored then; null: the
   * item must no longer be sent. Another `envelope` than before gets another key, because the service refuses to take two
   * texts under one.
   */
  hold: (id: string, deviceId: string, envelope?: Waiting['envelope']): Promise<Waiting | null> =>
    inStep(async (transaction) => {
      const line = await inLine(transaction);
      const known = line.find((one) => one.id === id);
      if (known === undefined) return null;
      const isSame = known.envelope?.sealed === envelope?.sealed;
      const held: Waiting = {
        ...{ ...known, envelope, key: isSame ? known.key : newId() },
        ...{ triedBy: deviceId, unknownSince: known.unknownSince ?? Date.now() },
      };
      await keepLine(
        transaction,
        line.map((one) => (one.id === id ? held : one)),
      );
      return held;
    }),

  /** Takes over the attempts of another line, which was in use in the place of this one. */
  async adopt(entries: readonly Waiting[]): Promise<void> {
    const known = new Map(entries.map((entry) => [entry.id, entry]));
    await inStep(async (transaction) => {
      const line = await inLine(transaction);
      await keepLine(
        transaction,
        line.map((entry) => known.get(entry.id) ?? entry),
      );
    });
  },

  /** Restores the state before an attempt that had no effect, as the service reported. */
  release: ({ id, unknownSince, triedBy }: Waiting): Promise<void> =>
    inStep(async (transaction) => {
      const released = (one: Waiting): Waiting => (one.id === id ? { ...one, unknownSince, triedBy } : one);
      await keepLine(transaction, (await inLine(transaction)).map(released));
    }),

  /** Notes why these items wait. */
  async tell(ids: readonly string[], reason: string | null): Promise<void> {
    const threads = await inStep(async (transaction) => {
      const found = new Set<string>();
      for (const id of ids) {
        const item = await transaction.objectStore('items').get(id);
        if (item === undefined || item.error === reason || !isWaitingItem(item)) continue;
        await transaction.objectStore('items').put({ ...item, error: reason });
        found.add(item.thread);
      }
      return found;
    });
    for (const thread of threads) onChange(thread);
  },
});

/** Records messages that have arrived. */
const makeDeliveries = (inStep: InStep, onChange: Told) => ({
  /** Notes that a message was accepted. Its receiver may have reported it before. */
  async sent(id: string, ref: string, at: number, lock?: 'sealed' | 'open'): Promise<void> {
    const accepted = await inStep(async (transaction) => {
      const { left, item } = await takeOut(transaction, id);
      if (item?.kind !== 'message') return item;
      const state = (await earlyOnes(transaction)).includes(ref) ? 'delivered' : 'sent';
      await transaction
        .objectStore('items')
        .put({ ...item, ref, at, state, error: null, ...(lock !== undefined && { lock }) });
      await moveBehind(transaction, left, item.thread, at);
      return item;
    });
    if (accepted !== undefined) onChange(accepted.thread);
  },

  /** Notes that the receiver has taken these. Unknown ones are remembered: the response to the sender may be late. */
  async delivered(refs: readonly string[]): Promise<void> {
    const threads = await inStep(async (transaction) => {
      const items = transaction.objectStore('items');
      const unknown: string[] = [];
      const found = new Set<string>();
      for (const ref of refs) {
        const item = await items.index('ref').get(ref);
        if (item === undefined) unknown.push(ref);
        if (item?.kind !== 'message') continue;
        await items.put({ ...item, state: 'delivered' });
        found.add(item.thread);
      }
      const kept = [...(await earlyOnes(transaction)), ...unknown].slice(-MOST_EARLY);
      if (unknown.length > 0) await transaction.objectStore('settings').put(kept, EARLY);
      return found;
    });
    for (const thread of threads) onChange(thread);
  },
});

/** Makes the queue. `onChange` gets the thread that has changed. */
export function makeQueue(database: Database, onChange: Told, inTurn: InTurn) {
  const inStep: InStep = (work) =>
    inTurn(async () => {
      const transaction = begin(database);
      const [result] = await Promise.all([work(transaction), transaction.done]);
      return result;
    });
  return {
    ...makeLine(database, inStep, onChange),
    ...makeAttempts(inStep, onChange),
    ...makeDeliveries(inStep, onChange),
  };
}

export type Queue = ReturnType<typeof makeQueue>;
