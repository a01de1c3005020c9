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

const begin = (database: Database) => database.transaction(['items', 'settings'], 'readwrite');
type Transaction = ReturnType<typeof begin>;
type Told = (thread: string) => void;

const inLine = async (transaction: Transaction): Promise<Waiting[]> =>
  ((await transaction.objectStore('settings').get(KEY)) as Waiting[] | undefined) ?? [];

const keepLine = (transaction: Transaction, line: readonly Waiting[]) =>
  transaction.objectStore('settings').put(line, KEY);

/** Takes one out of the line; those that are left. */
async function takeOut(transaction: Transaction, id: string): Promise<Waiting[]> {
  const left = (await inLine(transaction)).filter((one) => one.id !== id);
  await keepLine(transaction, left);
  return left;
}

/** What is sent goes to where the service's time puts it; what waits behind it stays behind it. */
async function moveBehind(transaction: Transaction, line: readonly Waiting[], thread: string, at: number) {
  const items = transaction.objectStore('items');
  for (const [i, { id }] of line.filter(({ kind, to }) => kind === 'message' && to === thread).entries()) {
    const item = await items.get(id);
    if (item !== undefined && item.at <= at + i) await items.put({ ...item, at: at + i + 1 });
  }
}

/** Who is in the line. */
const makeLine = (database: Database, onChange: Told) => ({
  all: async (): Promise<Waiting[]> => ((await database.get('settings', KEY)) as Waiting[] | undefined) ?? [],

  async has(id: string): Promise<boolean> {
    const line = ((await database.get('settings', KEY)) as Waiting[] | undefined) ?? [];
    return line.some((one) => one.id === id);
  },

  /** Put at the end of the line, new or once more. */
  async add(item: Item): Promise<void> {
    const transaction = begin(database);
    await transaction.objectStore('items').put(item);
    await keepLine(transaction, [...(await takeOut(transaction, item.id)), entryOf(item)]);
    await transaction.done;
    onChange(item.thread);
  },

  /** Takes it out of the line, and changes its item. */
  async settle(id: string, edit: (item: Item) => void): Promise<void> {
    const transaction = begin(database);
    await takeOut(transaction, id);
    const item = await transaction.objectStore('items').get(id);
    if (item !== undefined) {
      edit(item);
      await transaction.objectStore('items').put(item);
    }
    await transaction.done;
    if (item !== undefined) onChange(item.thread);
  },

  /** With its item. */
  async remove(id: string): Promise<void> {
    const transaction = begin(database);
    await takeOut(transaction, id);
    const item = await transaction.objectStore('items').get(id);
    await transaction.objectStore('items').delete(id);
    await transaction.done;
    if (item !== undefined) onChange(item.thread);
  },
});

/** What becomes of attempts. */
const makeAttempts = (database: Database, onChange: Told) => ({
  /** Before an attempt: from now on it may have arrived. False: it is not to be sent any more. */
  async hold(id: string, deviceId: string): Promise<boolean> {
    const transaction = begin(database);
    const line = await inLine(transaction);
    const isThere = line.some((one) => one.id === id);
    const held = (one: Waiting): Waiting =>
      one.id === id ? { ...one, triedBy: deviceId, unknownSince: one.unknownSince ?? Date.now() } : one;
    if (isThere) await keepLine(transaction, line.map(held));
    await transaction.done;
    return isThere;
  },

  /** The service has said that the attempt had no effect: as it was before. */
  async release({ id, unknownSince, triedBy }: Waiting): Promise<void> {
    const transaction = begin(database);
    const released = (one: Waiting): Waiting => (one.id === id ? { ...one, unknownSince, triedBy } : one);
    await keepLine(transaction, (await inLine(transaction)).map(released));
    await transaction.done;
  },

  /** Why these wait. */
  async tell(ids: readonly string[], reason: string | null): Promise<void> {
    const transaction = begin(database);
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
});

/** Messages that have arrived. */
const makeDeliveries = (database: Database, onChange: Told) => ({
  /** A message was accepted. Its receiver may have said so before. */
  async sent(id: string, ref: string, at: number): Promise<void> {
    const transaction = begin(database);
    const left = await takeOut(transaction, id);
    const item = await transaction.objectStore('items').get(id);
    const early = ((await transaction.objectStore('settings').get(EARLY)) as string[] | undefined) ?? [];
    if (item?.kind === 'message') {
      const state = early.includes(ref) ? 'delivered' : 'sent';
      await transaction.objectStore('items').put({ ...item, ref, at, state, error: null });
      await moveBehind(transaction, left, item.thread, at);
    }
    await transaction.done;
    if (item !== undefined) onChange(item.thread);
  },

  /** The receiver has taken these. Those that nothing is known of are kept in mind: the answer to the sender may be late. */
  async delivered(refs: readonly string[]): Promise<void> {
    const transaction = begin(database);
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
});

/** `onChange` is told which thread has changed. */
export const makeQueue = (database: Database, onChange: Told) => ({
  ...makeLine(database, onChange),
  ...makeAttempts(database, onChange),
  ...makeDeliveries(database, onChange),
});

export type Queue = ReturnType<typeof makeQueue>;
