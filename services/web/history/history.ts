import type { Message, Transfer } from '../../../shared/client/index.ts';
import type { Database, FilesItem, Item, KeptSource, MessageItem, Thread } from './database.ts';

/** Codes whose texts are true on both sides, whichever device reported them. */
const OF_BOTH = ['digest_mismatch', 'record_damaged', 'cannot_open'];
/** Codes that the other device reported of itself, and the texts that name it. */
const OF_OTHER: Readonly<Record<string, string>> = {
  sink_failed: 'other_sink_failed',
  // A terminal says so.
  no_space: 'other_sink_failed',
  source_failed: 'other_source_failed',
};
/** The most files of an offer. */
const SHOWN_FILES = 1_000;
/** How many items of a thread are shown at first, and how many further ones on request. */
export const PAGE_ITEMS = 60;
const FOUND_ITEMS = 100;

const STATES: Readonly<Record<Transfer['state'], FilesItem['state']>> = {
  PENDING: 'offered',
  ACCEPTED: 'active',
  P2P_ACTIVE: 'active',
  RELAY_ACTIVE: 'active',
  DONE: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
};

/** Returns the state for the history. Only its receiver refuses a transfer. */
export const stateOf = ({
  state,
  error,
  receiver,
}: Pick<Transfer, 'state' | 'error' | 'receiver'>): FilesItem['state'] =>
  state === 'CANCELLED' && error?.code === 'rejected' && error.by_device_id === receiver.device_id
    ? 'refused'
    : STATES[state];

/**
 * Returns why a transfer ended, for the history of one side. What the other device reported is about that device: its code
 * is that of a text which says so, or `failed`.
 */
export function errorOf({ error, sender, receiver }: Transfer, isMine: boolean): string | null {
  if (error === null) return null;
  const { code } = error;
  const isOfOther = error.by_device_id === (isMine ? receiver : sender).device_id;
  if (!isOfOther || OF_BOTH.includes(code)) return code;
  return OF_OTHER[code] ?? 'failed';
}

/** Tells whether an item has content that this browser cannot open. */
export const isSealed = (item: Item): item is MessageItem & { sealed: string } =>
  item.kind === 'message' && item.sealed !== undefined;

/** Tells whether the content of an item was not genuine, so that there is nothing to show. */
export const isRefused = ({ lock }: Item): boolean => lock === 'refused';

/** Tells whether files were offered whose names this browser cannot open yet. */
export const isUnopened = ({ lock }: Item): boolean => lock === 'waits';

/** Returns the thread of a message. The sender of a message without a device cannot be answered. */
const threadOf = ({ from_device_id, from_name }: Message): string => from_device_id ?? `name:${from_name}`;

const shownFiles = (transfer: Transfer): FilesItem['files'] =>
  (transfer.files ?? []).slice(0, SHOWN_FILES).map(({ index, name, size, type, modified_at }) => ({
    ...{ index, name, size, type },
    ...(modified_at !== undefined && { modified_at }),
  }));

/** Keeps the data that is not in items. */
const makeKept = (database: Database) => ({
  sources: {
    keep: async (transferId: string, files: KeptSource[]): Promise<void> => {
      await database.put('sources', { transferId, files });
    },
    of: async (transferId: string): Promise<KeptSource[] | null> =>
      (await database.get('sources', transferId))?.files ?? null,
    all: (): Promise<string[]> => database.getAllKeys('sources'),
    forget: (transferId: string): Promise<void> => database.delete('sources', transferId),
  },

  settings: {
    async get<T>(key: string, otherwise: T): Promise<T> {
      return ((await database.get('settings', key)) as T | undefined) ?? otherwise;
    },
    async set(key: string, value: unknown): Promise<void> {
      await database.put('settings', value, key);
    },
  },
});

const makeReading = (database: Database) => ({
  /**
   * Returns when the newest page before that time begins; 0 when it has all remaining items. Items of the same millisecond
   * are on one page, which may be longer. Otherwise the next page would leave some of them out.
   */
  async pageStart(thread: string, before = Number.MAX_SAFE_INTEGER): Promise<number> {
    const range = IDBKeyRange.bound([thread, 0], [thread, before], false, true);
    let [count, start] = [0, 0];
    let cursor = await database.transaction('items').store.index('place').openCursor(range, 'prev');
    while (cursor !== null && (count < PAGE_ITEMS || cursor.value.at === start)) {
      start = cursor.value.at;
      count += 1;
      cursor = await cursor.continue();
    }
    return cursor === null ? 0 : start;
  },

  /** Returns the last item of a thread. */
  async newest(thread: string): Promise<Item | undefined> {
    const range = IDBKeyRange.bound([thread, 0], [thread, Number.MAX_SAFE_INTEGER]);
    return (await database.transaction('items').store.index('place').openCursor(range, 'prev'))?.value;
  },

  /** Returns all items of a thread from that time on, oldest first. */
  since: (thread: string, from: number): Promise<Item[]> =>
    database.getAllFromIndex('items', 'place', IDBKeyRange.bound([thread, from], [thread, Number.MAX_SAFE_INTEGER])),

  /** Finds items with these words in the text or in the names of files, newest first. */
  async search(words: string): Promise<Item[]> {
    const wanted = words.toLocaleLowerCase();
    const found: Item[] = [];
    for (const item of await database.getAll('items')) {
      const text = item.kind === 'message' ? item.text : item.files.map(({ name }) => name).join('\n');
      if (text.toLocaleLowerCase().includes(wanted)) found.push(item);
    }
    return found.sort((one, other) => other.at - one.at).slice(0, FOUND_ITEMS);
  },

  /** Returns transfers that may have bytes in this browser: of one thread, or of all. */
  async withBytes(thread: string | null): Promise<FilesItem[]> {
    const all = await database.getAll('items');
    return all
      .filter((item) => item.kind === 'files')
      .filter((item) => !item.isMine && item.ref !== '' && (thread === null || item.thread === thread));
  },

  /** Returns transfers that were not over in their last known state. */
  async unfinished(): Promise<FilesItem[]> {
    const open = ['preparing', 'offered', 'active'];
    const all = await database.getAll('items');
    return all.filter((item) => item.kind === 'files').filter(({ state }) => open.includes(state));
  },

  messages: async (): Promise<MessageItem[]> =>
    (await database.getAll('items')).filter((item) => item.kind === 'message'),

  /** Returns messages of this browser that the service has not accepted. */
  async unsent(): Promise<MessageItem[]> {
    const all = await database.getAll('items');
    return all.filter((item) => item.kind === 'message').filter(({ state }) => state === 'sending');
  },

  threads: (): Promise<Thread[]> => database.getAll('threads'),
});

type Touch = (id: string, name: string, change: (thread: Thread) => void) => Promise<void>;

/** Makes the operations on whole threads. */
const makeThreads = (database: Database, touch: Touch, onChange: (thread: string) => void) => ({
  async read(thread: string): Promise<void> {
    const known = await database.get('threads', thread);
    if (known === undefined || known.unread === 0) return;
    await touch(thread, '', (one) => {
      one.unread = 0;
    });
  },

  async forgetThread(thread: string): Promise<void> {
    const range = IDBKeyRange.bound([thread, 0], [thread, Number.MAX_SAFE_INTEGER]);
    const transaction = database.transaction(['items', 'threads', 'sources'], 'readwrite');
    const work = async (): Promise<void> => {
      let cursor = await transaction.objectStore('items').index('place').openCursor(range);
      while (cursor !== null) {
        await transaction.objectStore('sources').delete(cursor.value.id);
        await cursor.delete();
        cursor = await cursor.continue();
      }
      await transaction.objectStore('threads').delete(thread);
    };
    await Promise.all([work(), transaction.done]);
    onChange(thread);
  },
});

const itemOf = (message: Message): MessageItem => ({
  ...{ id: message.message_id, ref: message.message_id, thread: threadOf(message), at: message.created_at },
  ...{ isMine: false, kind: 'message', text: message.content, state: 'delivered', error: null },
});

/** Puts an item in, or in the place of the same one. */
type Put = (item: Item, name: string, mark: { key: string; value: unknown } | null) => Promise<void>;

/** Turns each message and transfer of the service into one item. */
const makeArrivals = (byRef: (ref: string) => Promise<Item | undefined>, put: Put) => ({
  /**
   * Stores a message safely before it resolves. The same message twice is one item. False: the message is sealed, so it was
   * stored as it came, and must not be acknowledged until a key opens it.
   */
  async receive(message: Message, lock?: MessageItem['lock']): Promise<boolean> {
    const known = await byRef(message.message_id);
    if (known !== undefined) return !isSealed(known);
    const { sealed } = message;
    const item = {
      ...itemOf(message),
      ...(sealed !== undefined && { sealed }),
      ...(lock !== undefined && { lock }),
    };
    await put(item, message.from_name, null);
    return !isSealed(item);
  },

  /** Stores a message that this browser has opened, and in the same step `mark`, so that it is not shown again. */
  receiveOpened: (message: Message, text: string, mark: { key: string; value: unknown }): Promise<void> =>
    put({ ...itemOf(message), text, lock: 'sealed' }, message.from_name, mark),

  /** Notes that a message came which is not genuine, without its content. */
  receiveRefused: (message: Message): Promise<void> =>
    put({ ...itemOf(message), text: '', lock: 'refused' }, message.from_name, null),

  /**
   * Returns the item of a transfer to this device, and makes it if there is none. Once its names are opened, they take the
   * place of those that the service knows.
   */
  async offered(transfer: Transfer, lock?: FilesItem['lock']): Promise<Item> {
    const known = await byRef(transfer.transfer_id);
    if (known !== undefined && (!isUnopened(known) || lock === 'waits')) return known;
    const isHidden = lock === 'waits' || lock === 'refused';
    const item: FilesItem = {
      ...{ id: transfer.transfer_id, ref: transfer.transfer_id, thread: transfer.sender.device_id },
      ...{ at: transfer.created_at, isMine: false, kind: 'files', files: isHidden ? [] : shownFiles(transfer) },
      ...{ fileCount: transfer.file_count, totalBytes: transfer.total_bytes, kept: 'nothing' },
      ...{ state: stateOf(transfer), error: errorOf(transfer, false), ...(lock !== undefined && { lock }) },
    };
    await put(item, transfer.sender.name, null);
    return item;
  },
});

/** Runs one change after the other. A database does so by itself; the memory database does not. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function makeTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}

/** Notes an item in its thread. */
function noteIn(thread: Thread, item: Item): void {
  thread.lastAt = Math.max(thread.lastAt, item.at);
  if (!item.isMine) thread.unread += 1;
}

/** Returns the thread, or a new one; an empty name changes nothing. */
const threadFrom = (found: Thread | undefined, id: string, name: string): Thread => ({
  ...(found ?? { id, name, lastAt: 0, unread: 0 }),
  ...(name !== '' && { name }),
});

/**
 * Writes an item, its thread and the mark in one transaction: a message that is stored without its thread is hidden. Called
 * in its turn: a transaction that waits without requests ends by itself.
 */
async function write(database: Database, item: Item, name: string, mark: Parameters<Put>[2]): Promise<void> {
  const transaction = database.transaction(['items', 'threads', 'settings'], 'readwrite');
  const work = async (): Promise<void> => {
    const [items, threads] = [transaction.objectStore('items'), transaction.objectStore('threads')];
    const isKnown = (await items.index('ref').get(item.ref)) !== undefined;
    await items.put(item);
    if (mark !== null) await transaction.objectStore('settings').put(mark.value, mark.key);
    if (isKnown) return;
    const thread = threadFrom(await threads.get(item.thread), item.thread, name);
    noteIn(thread, item);
    await threads.put(thread);
  };
  await Promise.all([work(), transaction.done]);
}

/** Makes the history of an account in this browser. `onChange` gets the thread that has changed. */
export function makeHistory(database: Database, onChange: (thread: string) => void, inTurn: InTurn) {
  const byRef = (ref: string): Promise<Item | undefined> => database.getFromIndex('items', 'ref', ref);

  const touch: Touch = (id, name, change) =>
    inTurn(async () => {
      const transaction = database.transaction('threads', 'readwrite');
      const work = async (): Promise<void> => {
        const thread = threadFrom(await transaction.store.get(id), id, name);
        change(thread);
        await transaction.store.put(thread);
      };
      await Promise.all([work(), transaction.done]);
      onChange(id);
    });

  /** Adds the item to its thread, so that the thread is shown. */
  const note = (item: Item, name: string): Promise<void> => touch(item.thread, name, (thread) => noteIn(thread, item));

  const put: Put = async (item, name, mark) => {
    await inTurn(() => write(database, item, name, mark));
    onChange(item.thread);
  };

  /** Changes an item in one step; `change` must be synchronous. */
  const update = (id: string, change: (item: Item) => void): Promise<void> =>
    inTurn(async () => {
      const transaction = database.transaction('items', 'readwrite');
      const work = async (): Promise<Item | undefined> => {
        const item = await transaction.store.get(id);
        if (item === undefined) return undefined;
        change(item);
        await transaction.store.put(item);
        return item;
      };
      const [item] = await Promise.all([work(), transaction.done]);
      if (item !== undefined) onChange(item.thread);
    });

  return {
    byRef,
    note,
    update,

    item: (id: string): Promise<Item | undefined> => database.get('items', id),

    ...makeReading(database),
    ...makeThreads(database, touch, onChange),
    ...makeArrivals(byRef, put),
    ...makeKept(database),
    /**
     * Null: what is written outlasts this page, or nothing does in this browser. Otherwise it exists only in this page for
     * now, and the promise resolves when all of it is on the disk.
     */
    untilKept: (): Promise<void> | null => null,
    close: () => database.close(),
  };
}

export type History = ReturnType<typeof makeHistory>;
