import type { Database, Item } from '../history/database.ts';
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
export function makeQueue(database: Database, onChange: (thread: string) => void) {
  const begin = () => database.transaction(['items', 'settings'], 'readwrite');
  type Transaction = ReturnType<typeof begin>;

  const listed = async (transaction: Transaction): Promise<Waiting[]> =>
    ((await transaction.objectStore('settings').get(KEY)) as Waiting[] | undefined) ?? [];
  const store = (transaction: Transaction, waiting: readonly Waiting[]) =>
    transaction.objectStore('settings').put(waiting, KEY);
  const find = async (): Promise<Waiting[]> => ((await database.get('settings', KEY)) as Waiting[] | undefined) ?? [];

  /** Takes it out of the line, and changes its item. */
  async function settle(id: string, edit: (item: Item) => void): Promise<void> {
    const transaction = begin();
    await store(
      transaction,
      (await listed(transaction)).filter((one) => one.id !== id),
    );
    const item = await transaction.objectStore('items').get(id);
    if (item !== undefined) {
      edit(item);
      await transaction.objectStore('items').put(item);
    }
    await transaction.done;
    if (item !== undefined) onChange(item.thread);
  }

  /** What is sent goes to where the service's time puts it; what waits behind it stays behind it. */
  async function moveBehind(transaction: Transaction, waiting: readonly Waiting[], thread: string, at: number) {
    const items = transaction.objectStore('items');
    for (const [i, { id }] of waiting.filter(({ kind, to }) => kind === 'message' && to === thread).entries()) {
      const item = await items.get(id);
      if (item !== undefined && item.at <= at + i) await items.put({ ...item, at: at + i + 1 });
    }
  }

  /** Put at the end of the line, new or once more. */
  async function add(item: Item): Promise<void> {
    const transaction = begin();
    await transaction.objectStore('items').put(item);
    const others = (await listed(transaction)).filter(({ id }) => id !== item.id);
    await store(transaction, [...others, entryOf(item)]);
    await transaction.done;
    onChange(item.thread);
  }

  return {
    all: find,
    has: async (id: string): Promise<boolean> => (await find()).some((one) => one.id === id),
    add,
    settle,

    /** Before an attempt: from now on it may have arrived. False: it is not to be sent any more. */
    async hold(id: string, deviceId: string): Promise<boolean> {
      const transaction = begin();
      const waiting = await listed(transaction);
      const isThere = waiting.some((one) => one.id === id);
      const held = (one: Waiting): Waiting =>
        one.id === id ? { ...one, triedBy: deviceId, unknownSince: one.unknownSince ?? Date.now() } : one;
      if (isThere) await store(transaction, waiting.map(held));
      await transaction.done;
      return isThere;
    },

    /** The service has said that the attempt had no effect: as it was before. */
    async release({ id, unknownSince, triedBy }: Waiting): Promise<void> {
      const transaction = begin();
      const waiting = await listed(transaction);
      await store(
        transaction,
        waiting.map((one) => (one.id === id ? { ...one, unknownSince, triedBy } : one)),
      );
      await transaction.done;
    },

    /** A message was accepted. Its receiver may have said so before. */
    async sent(id: string, ref: string, at: number): Promise<void> {
      const transaction = begin();
      const waiting = (await listed(transaction)).filter((one) => one.id !== id);
      await store(transaction, waiting);
      const item = await transaction.objectStore('items').get(id);
      const early = ((await transaction.objectStore('settings').get(EARLY)) as string[] | undefined) ?? [];
      if (item?.kind === 'message') {
        const state = early.includes(ref) ? 'delivered' : 'sent';
        await transaction.objectStore('items').put({ ...item, ref, at, state, error: null });
        await moveBehind(transaction, waiting, item.thread, at);
      }
      await transaction.done;
      if (item !== undefined) onChange(item.thread);
    },

    /** The receiver has taken these. Which are not known yet are kept in mind: the answer to the sender may be late. */
    async delivered(refs: readonly string[]): Promise<void> {
      const transaction = begin();
      const items = transaction.objectStore('items');
      const unknown: string[] = [];
      const threads = new Set<string>();
      for (const ref of refs) {
        const item = await items.index('ref').get(ref);
        if (item === undefined) unknown.push(ref);
        if (item?.kind !== 'message') continue;
        await items.put({ ...item, state: 'delivered' });
        threads.add(item.thread);
      }
      const settings = transaction.objectStore('settings');
      const early = ((await settings.get(EARLY)) as string[] | undefined) ?? [];
      if (unknown.length > 0) await settings.put([...early, ...unknown].slice(-MOST_EARLY), EARLY);
      await transaction.done;
      for (const thread of threads) onChange(thread);
    },

    /** Why these wait. */
    async tell(ids: readonly string[], reason: string | null): Promise<void> {
      const transaction = begin();
      const threads = new Set<string>();
      for (const id of ids) {
        const item = await transaction.objectStore('items').get(id);
        if (item === undefined || item.error === reason || !isWaitingItem(item)) continue;
        await transaction.objectStore('items').put({ ...item, error: reason });
        threads.add(item.thread);
      }
      await transaction.done;
      for (const thread of threads) onChange(thread);
    },

    async remove(id: string): Promise<void> {
      const transaction = begin();
      await store(
        transaction,
        (await listed(transaction)).filter((one) => one.id !== id),
      );
      const item = await transaction.objectStore('items').get(id);
      await transaction.objectStore('items').delete(id);
      await transaction.done;
      if (item !== undefined) onChange(item.thread);
    },
  };
}

export type Queue = ReturnType<typeof makeQueue>;
