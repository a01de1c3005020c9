import type { Message, Transfer } from '../../../shared/client/index.ts';
import type { Database, FilesItem, Item, KeptSource, MessageItem, Thread } from './database.ts';

/** As many as an offer has. */
const SHOWN_FILES = 1_000;
/** Items of a thread that are read at once. */
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

export const stateOf = ({ state, error }: Pick<Transfer, 'state' | 'error'>): FilesItem['state'] =>
  state === 'CANCELLED' && error?.code === 'rejected' ? 'refused' : STATES[state];

/** Where messages of a session without a device go: nobody can be answered there. */
const threadOf = ({ from_device_id, from_name }: Message): string => from_device_id ?? `name:${from_name}`;

const shownFiles = (transfer: Transfer): FilesItem['files'] =>
  (transfer.files ?? []).slice(0, SHOWN_FILES).map(({ index, name, size, type }) => ({ index, name, size, type }));

/** What is kept beside the items. */
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
  /** The newest of a thread before that time, oldest first. */
  async page(thread: string, before = Number.MAX_SAFE_INTEGER): Promise<Item[]> {
    const range = IDBKeyRange.bound([thread, 0], [thread, before], false, true);
    const found: Item[] = [];
    let cursor = await database.transaction('items').store.index('place').openCursor(range, 'prev');
    while (cursor !== null && found.length < PAGE_ITEMS) {
      found.push(cursor.value);
      cursor = await cursor.continue();
    }
    return found.reverse();
  },

  /** What has these words in its text or in the names of its files, newest first. */
  async search(words: string): Promise<Item[]> {
    const wanted = words.toLocaleLowerCase();
    const found: Item[] = [];
    for (const item of await database.getAll('items')) {
      const text = item.kind === 'message' ? item.text : item.files.map(({ name }) => name).join('\n');
      if (text.toLocaleLowerCase().includes(wanted)) found.push(item);
    }
    return found.sort((one, other) => other.at - one.at).slice(0, FOUND_ITEMS);
  },

  /** Transfers of which there may be bytes in this browser: of one thread, or of all. */
  async withBytes(thread: string | null): Promise<FilesItem[]> {
    const all = await database.getAll('items');
    return all
      .filter((item) => item.kind === 'files')
      .filter((item) => !item.isMine && item.ref !== '' && (thread === null || item.thread === thread));
  },

  /** Transfers that were not over when they were last heard of. */
  async unfinished(): Promise<FilesItem[]> {
    const open = ['preparing', 'offered', 'active'];
    const all = await database.getAll('items');
    return all.filter((item) => item.kind === 'files').filter(({ state }) => open.includes(state));
  },

  /** Messages of this browser that the service has not taken. */
  async unsent(): Promise<MessageItem[]> {
    const all = await database.getAll('items');
    return all.filter((item) => item.kind === 'message').filter(({ state }) => state === 'sending');
  },

  threads: (): Promise<Thread[]> => database.getAll('threads'),
});

/** What the service has told of becomes an item, once. */
const makeArrivals = (
  byRef: (ref: string) => Promise<Item | undefined>,
  add: (item: Item, name: string) => Promise<void>,
) => ({
  /** Safely stored when it resolves: only then is the message acknowledged. The same one twice is one. */
  async receive(message: Message): Promise<MessageItem | null> {
    if ((await byRef(message.message_id)) !== undefined) return null;
    const item: MessageItem = {
      ...{ id: message.message_id, ref: message.message_id, thread: threadOf(message), at: message.created_at },
      ...{ isMine: false, kind: 'message', text: message.content, state: 'delivered', error: null },
    };
    await add(item, message.from_name);
    return item;
  },

  /** A transfer to or from this device as an item; the one that is there, if there is one. */
  async transfer(transfer: Transfer, isMine: boolean): Promise<Item> {
    const known = await byRef(transfer.transfer_id);
    if (known !== undefined) return known;
    const other = isMine ? transfer.receiver : transfer.sender;
    const item: FilesItem = {
      ...{ id: transfer.transfer_id, ref: transfer.transfer_id, thread: other.device_id, at: transfer.created_at },
      ...{ isMine, kind: 'files', files: shownFiles(transfer), fileCount: transfer.file_count, kept: 'nothing' },
      ...{ totalBytes: transfer.total_bytes, state: stateOf(transfer), error: transfer.error?.code ?? null },
    };
    await add(item, other.name);
    return item;
  },
});

const makeForgetting = (database: Database, onChange: (thread: string) => void) => ({
  /** With everything that is kept of it. */
  async forgetThread(thread: string): Promise<void> {
    const range = IDBKeyRange.bound([thread, 0], [thread, Number.MAX_SAFE_INTEGER]);
    const transaction = database.transaction(['items', 'threads', 'sources'], 'readwrite');
    let cursor = await transaction.objectStore('items').index('place').openCursor(range);
    while (cursor !== null) {
      await transaction.objectStore('sources').delete(cursor.value.id);
      await cursor.delete();
      cursor = await cursor.continue();
    }
    await transaction.objectStore('threads').delete(thread);
    await transaction.done;
    onChange(thread);
  },
});

/** What this browser keeps of an account. `onChange` is told which thread has changed. */
export function makeHistory(database: Database, onChange: (thread: string) => void) {
  const byRef = (ref: string): Promise<Item | undefined> => database.getFromIndex('items', 'ref', ref);

  async function touch(id: string, name: string, change: (thread: Thread) => void): Promise<void> {
    const transaction = database.transaction('threads', 'readwrite');
    const known = await transaction.store.get(id);
    const thread = known ?? { id, name, lastAt: 0, unread: 0, draft: '' };
    if (name !== '') thread.name = name;
    change(thread);
    await transaction.store.put(thread);
    await transaction.done;
    onChange(id);
  }

  /** Its thread is one of those that are shown. */
  const note = (item: Item, name: string): Promise<void> =>
    touch(item.thread, name, (thread) => {
      thread.lastAt = Math.max(thread.lastAt, item.at);
      if (!item.isMine) thread.unread += 1;
    });

  async function add(item: Item, name: string): Promise<void> {
    await database.put('items', item);
    await note(item, name);
  }

  /** Changes an item in one step; `change` must not wait. */
  async function update(id: string, change: (item: Item) => void): Promise<void> {
    const transaction = database.transaction('items', 'readwrite');
    const item = await transaction.store.get(id);
    if (item !== undefined) {
      change(item);
      await transaction.store.put(item);
    }
    await transaction.done;
    if (item !== undefined) onChange(item.thread);
  }

  return {
    byRef,
    note,
    update,

    item: (id: string): Promise<Item | undefined> => database.get('items', id),

    ...makeReading(database),

    async read(thread: string): Promise<void> {
      const known = await database.get('threads', thread);
      if (known === undefined || known.unread === 0) return;
      await touch(thread, '', (one) => {
        one.unread = 0;
      });
    },

    ...makeForgetting(database, onChange),
    ...makeArrivals(byRef, add),
    ...makeKept(database),
    close: () => database.close(),
  };
}

export type History = ReturnType<typeof makeHistory>;
