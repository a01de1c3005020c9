import type { Database, Item } from '../history/database.ts';
import type { InTurn } from '../history/history.ts';
import { newId } from '../new-id.ts';

/*
 * What is to be sent and was not answered yet, in the order in which it was written. It lies among the settings of the history:
 * a database that exists needs no new version, so that a tab of the version before stays open beside this one, and signing out
 * removes it with everything else. An item and its place here change in one transaction.
 */
const KEY = 'outbox';
const EARLY = 'delivered-early';
const MOST_EARLY = 200;

export interface Waiting {
  /** The item of the history. */
  readonly id: string;
  readonly kind: Item['kind'];
  readonly to: string;
  /** The same for each attempt: the service takes it once. Stored before the first. */
  readonly key: string;
  /** When the first attempt began that may have arrived; null while there was none. */
  readonly unknownSince: number | null;
  /** The device that made it: the service knows keys of one device from those of another. */
  readonly triedBy: string | null;
}

const entryOf = ({ id, kind, thread }: Item): Waiting => ({
  ...{ id, kind, to: thread, key: newId() },
  ...{ unknownSince: null, triedBy: null },
});

export const isWaitingItem = ({ kind, state, isMine, ref }: Item): boolean =>
  isMine && ref === '' && state === (kind === 'message' ? 'sending' : 'preparing');

/** `onChange` is told which thread has changed. */
export function makeQueue(database: Database, onChange: (thread: string) => void, inTurn: InTurn) {
  const begin = () => database.transaction(['items', 'settings'], 'readwrite');
  type Transaction = ReturnType<typeof begin>;

  /** One step: all of it is stored, or nothing. */
  const inStep = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      const transaction = begin();
      const [result] = await Promise.all([work(transaction), transaction.done]);
      return result;
    });

  const listed = async (transaction: Transaction): Promise<Waiting[]> =>
    ((await transaction.objectStore('settings').get(KEY)) as Waiting[] | undefined) ?? [];
  const store = (transaction: Transaction, waiting: readonly Waiting[]) =>
    transaction.objectStore('settings').put(waiting, KEY);
  const find = async (): Promise<Waiting[]> => ((await database.get('settings', KEY)) as Waiting[] | undefined) ?? [];
  const changed = (item: Item | undefined): void => {
    if (item !== undefined) onChange(item.thread);
  };

  /** Takes it out of the line. Gives its item. */
  async function take(transaction: Transaction, id: string): Promise<Item | undefined> {
    await store(
      transaction,
      (await listed(transaction)).filter((one) => one.id !== id),
    );
    return transaction.objectStore('items').get(id);
  }

  /** Takes it out of the line, and changes its item. */
  async function settle(id: string, edit: (item: Item) => void): Promise<void> {
    changed(
      await inStep(async (transaction) => {
        const item = await take(transaction, id);
        if (item === undefined) return undefined;
        edit(item);
        await transaction.objectStore('items').put(item);
        return item;
      }),
    );
  }

  /** What is sent goes to where the service's time puts it; what waits behind it stays behind it. */
  async function moveBehind(transaction: Transaction, thread: string, at: number) {
    const items = transaction.objectStore('items');
    const waiting = await listed(transaction);
    for (const [i, { id }] of waiting.filter(({ kind, to }) => kind === 'message' && to === thread).entries()) {
      const item = await items.get(id);
      if (item !== undefined && item.at <= at + i) await items.put({ ...item, at: at + i + 1 });
    }
  }

  /** Put at the end of the line, new or once more. */
  async function add(item: Item): Promise<void> {
    await inStep(async (transaction) => {
      await transaction.objectStore('items').put(item);
      const others = (await listed(transaction)).filter(({ id }) => id !== item.id);
      await store(transaction, [...others, entryOf(item)]);
    });
    onChange(item.thread);
  }

  return {
    all: find,
    has: async (id: string): Promise<boolean> => (await find()).some((one) => one.id === id),
    add,
    settle,

    /** Before an attempt: from now on it may have arrived. False: it is not to be sent any more. */
    hold: (id: string, deviceId: string): Promise<boolean> =>
      inStep(async (transaction) => {
        const waiting = await listed(transaction);
        const isThere = waiting.some((one) => one.id === id);
        const held = (one: Waiting): Waiting =>
          one.id === id ? { ...one, triedBy: deviceId, unknownSince: one.unknownSince ?? Date.now() } : one;
        if (isThere) await store(transaction, waiting.map(held));
        return isThere;
      }),

    /** The service has said that the attempt had no effect: as it was before. */
    release: ({ id, unknownSince, triedBy }: Waiting): Promise<void> =>
      inStep(async (transaction) => {
        const waiting = await listed(transaction);
        await store(
          transaction,
          waiting.map((one) => (one.id === id ? { ...one, unknownSince, triedBy } : one)),
        );
      }),

    /** A message was accepted. Its receiver may have said so before. */
    async sent(id: string, ref: string, at: number): Promise<void> {
      changed(
        await inStep(async (transaction) => {
          const item = await take(transaction, id);
          const early = ((await transaction.objectStore('settings').get(EARLY)) as string[] | undefined) ?? [];
          if (item?.kind !== 'message') return item;
          const state = early.includes(ref) ? 'delivered' : 'sent';
          await transaction.objectStore('items').put({ ...item, ref, at, state, error: null });
          await moveBehind(transaction, item.thread, at);
          return item;
        }),
      );
    },

    /** The receiver has taken these. Which are not known yet are kept in mind: the answer to the sender may be late. */
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
        const settings = transaction.objectStore('settings');
        const early = ((await settings.get(EARLY)) as string[] | undefined) ?? [];
        if (unknown.length > 0) await settings.put([...early, ...unknown].slice(-MOST_EARLY), EARLY);
        return found;
      });
      for (const thread of threads) onChange(thread);
    },

    /** Why these wait. */
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

    async remove(id: string): Promise<void> {
      changed(
        await inStep(async (transaction) => {
          const item = await take(transaction, id);
          await transaction.objectStore('items').delete(id);
          return item;
        }),
      );
    },
  };
}

export type Queue = ReturnType<typeof makeQueue>;
