import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Message } from '../../../shared/client/index.ts';
import type { Database, MessageItem } from '../../../services/web/history/database.ts';

/* A history on a disk with trouble: nothing is lost with the page that the service could have kept. */

const { jest } = import.meta;
const { unstable_mockModule: mockModule } = jest as unknown as {
  unstable_mockModule: (name: string, made: () => unknown) => void;
};

type Fault = 'UnknownError' | 'QuotaExceededError' | 'InvalidStateError' | 'AbortError';

/** The disk, and the connections to it. `puts`: every connection refuses to write. `connection`: the open ones are dead. */
const disk = {
  database: null as unknown as Database,
  opened: 0,
  dead: 0,
  puts: null as Fault | null,
  /** True: the browser answers nothing. */
  isSilent: false,
  isRemoved: false,
  /** True: a write waits for the one that hears of it. */
  isWaitedFor: false,
  /** Hears of each write, by its key. */
  onPut: async (_key: unknown): Promise<void> => {},
};

function fault(opened: number): void {
  if (opened <= disk.dead) throw new DOMException('Connection to Indexed Database server lost', 'UnknownError');
}

/** Wraps a store so that it refuses as the disk does. */
const refusing = <T extends object>(store: T, opened: number): T =>
  new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name === 'index') return (index: string) => refusing((member as (index: string) => object)(index), opened);
      return async (...given: unknown[]) => {
        fault(opened);
        if (disk.isSilent) return new Promise(() => {});
        if (name === 'put' && disk.puts !== null) throw new DOMException('No', disk.puts);
        const heard = name === 'put' ? disk.onPut(given[1]) : null;
        if (disk.isWaitedFor) await heard;
        return (member as (...all: unknown[]) => unknown).apply(target, given);
      };
    },
  });

/** Opens a connection to the disk. */
function connect(): Database {
  disk.opened += 1;
  const opened = disk.opened;
  const transaction = (...given: unknown[]) => {
    fault(opened);
    const made = (disk.database.transaction as unknown as (...all: unknown[]) => Record<string, unknown>)(...given);
    const objectStore = (name: string) => refusing((made['objectStore'] as (name: string) => object)(name), opened);
    return {
      db: { name: 'baton-ann' },
      done: made['done'],
      store: refusing(made['store'] as object, opened),
      objectStore,
      abort: () => {},
    };
  };
  return Object.assign(Object.create(refusing(disk.database, opened)) as object, {
    transaction,
    close: () => {},
  }) as unknown as Database;
}

interface Callbacks {
  upgrade(database: unknown, from: number, to: number, transaction: unknown): void;
}

mockModule('idb', () => ({
  async openDB(_name: string, _version: number, { upgrade }: Callbacks) {
    if (!disk.isRemoved) return connect();
    let isAborted = false;
    const abort = (): void => void (isAborted = true);
    upgrade({ createObjectStore: () => ({ createIndex: () => {} }) }, 0, 1, { abort, done: Promise.resolve() });
    if (isAborted) throw new DOMException('The upgrade was aborted', 'AbortError');
    disk.isRemoved = false;
    return connect();
  },
  deleteDB: () => Promise.resolve(),
}));
const { memoryDatabase } = await import('../../../services/web/history/memory-database.ts');
const { openLasting } = await import('../../../services/web/history/lasting.ts');

const cameIn = (id: string): Message => ({
  ...{ message_id: id, from_device_id: 'phone', from_name: 'Phone', content: id },
  ...{ created_at: 1, redelivered: false },
});
const written = (id: string): MessageItem => ({
  ...{ id, ref: '', thread: 'phone', at: 1, isMine: true, kind: 'message' },
  ...{ text: id, state: 'sending', error: null },
});

let told: string[] = [];
const open = () =>
  openLasting({
    userId: 'ann',
    onChange: () => {},
    onLost: (isLost, isSilent) => void told.push(isLost ? (isSilent ? 'silent' : 'lost') : 'kept'),
  });

/** What the next page would find. */
const onDisk = async (): Promise<string[]> => (await disk.database.getAll('items')).map(({ id }) => id).sort();

/** Lets the time pass in which the disk is tried again. */
async function wait(ms = 60_000): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

beforeAll(() => Object.assign(globalThis, { IDBKeyRange: { bound: () => ({ includes: () => false }) } }));
afterAll(() => Object.assign(globalThis, { IDBKeyRange: undefined }));
beforeEach(() => {
  told = [];
  Object.assign(disk, {
    database: memoryDatabase(),
    opened: 0,
    dead: 0,
    puts: null,
    isRemoved: false,
    isSilent: false,
  });
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => jest.useRealTimers());

test('a lost connection to the database is opened again, and nothing is kept in the page alone', async () => {
  const { history, queue } = await open();
  await history.receive(cameIn('before'));
  disk.dead = disk.opened;
  const all = [history.receive(cameIn('after')), queue.add(written('mine')), history.item('before')] as const;
  expect(await Promise.all(all)).toMatchObject([true, undefined, { text: 'before' }]);
  expect(await onDisk()).toEqual(['after', 'before', 'mine']);
  expect([told, disk.opened, history.untilKept()]).toEqual([[], 2, null]);
});

test.each(['QuotaExceededError', 'AbortError', 'InvalidStateError', 'UnknownError'] as const)(
  'a disk that refuses for a time with %s gets everything later, and until then nothing counts as kept',
  async (error) => {
    const { history, queue } = await open();
    await queue.add(written('early'));
    disk.puts = error;
    expect(await history.receive(cameIn('shown'))).toBe(true);
    expect(await history.item('shown')).toMatchObject({ text: 'shown' });
    await queue.add(written('late'));
    await queue.sent('early', 'message-1', 2);
    await history.note(written('late'), 'Phone');
    let isKept = false;
    void history.untilKept()?.then(() => {
      isKept = true;
    });
    await wait();
    expect([isKept, told, await onDisk()]).toEqual([false, ['lost'], ['early']]);

    const [waiting] = await queue.all();
    const held = await queue.hold('late', 'laptop', undefined);
    disk.puts = null;
    await wait();
    expect([isKept, told, history.untilKept()]).toEqual([true, ['lost', 'kept'], null]);
    expect(await onDisk()).toEqual(['early', 'late', 'shown']);
    expect(await disk.database.get('items', 'early')).toMatchObject({ state: 'sent', ref: 'message-1' });
    // An attempt under another key could arrive twice.
    expect(await queue.all()).toEqual([held]);
    expect(held?.key).toBe(waiting?.key);
    // The disk is in use again.
    await history.receive(cameIn('then'));
    expect(await onDisk()).toContain('then');
  },
);

test('a database that no longer answers keeps nobody waiting, and gets everything once it does', async () => {
  const { history, queue } = await open();
  await history.receive(cameIn('before'));
  disk.isSilent = true;
  const all = [history.receive(cameIn('after')), queue.add(written('mine'))] as const;
  await wait(20_000);
  expect(await Promise.all(all)).toEqual([true, undefined]);
  expect(await history.item('after')).toMatchObject({ text: 'after' });
  expect(told).toEqual(['silent']);
  expect(history.untilKept()).not.toBeNull();
  disk.isSilent = false;
  await wait();
  expect([told, await onDisk()]).toEqual([
    ['silent', 'kept'],
    ['after', 'before', 'mine'],
  ]);
});

test('much work at once is no silence, as long as some of it is done', async () => {
  const { history } = await open();
  disk.onPut = () => new Promise((resolve) => setTimeout(resolve, 2_000));
  disk.isWaitedFor = true;
  const all = Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => history.receive(cameIn(id))));
  await wait(60_000);
  expect(await all).toEqual(Array.from({ length: 6 }, () => true));
  expect(told).toEqual([]);
  [disk.isWaitedFor, disk.onPut] = [false, async () => {}];
});

test('a change that the caller got wrong is not repeated on the disk', async () => {
  const { history } = await open();
  disk.puts = 'QuotaExceededError';
  await history.receive(cameIn('m'));
  const wrong = history.update('m', () => {
    throw new Error('A fault of the app');
  });
  await expect(wrong).rejects.toThrow('A fault of the app');
  disk.puts = null;
  await wait();
  expect([told, await onDisk()]).toEqual([['lost', 'kept'], ['m']]);
});

test('what is written at the moment when the disk is in use again is on it too', async () => {
  const { history } = await open();
  for (let turns = 0; turns < 40; turns += 1) {
    disk.puts = 'QuotaExceededError';
    await history.settings.set('before', turns);
    disk.puts = null;
    // The line is the last of what the disk has missed.
    disk.onPut = async (key) => {
      if (key !== 'sealed-outbox') return;
      disk.onPut = async () => {};
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await history.settings.set(`after ${turns}`, true);
    };
    await wait(2_000);
    expect([turns, await disk.database.get('settings', `after ${turns}`)]).toEqual([turns, true]);
  }
});

test('a database that was removed is not made again, and the page goes on without', async () => {
  const { history } = await open();
  [disk.dead, disk.isRemoved] = [disk.opened, true];
  await history.receive(cameIn('m'));
  await wait();
  expect([told, disk.isRemoved]).toEqual([['lost'], true]);
  expect(await history.item('m')).toMatchObject({ text: 'm' });
  history.close();
  const { settings } = history;
  await settings.set('after', 1).catch(() => {});
  await wait();
  expect(jest.getTimerCount()).toBe(0);
});

test('in a browser that stores nothing from the beginning what is in the page counts as kept', async () => {
  const database = disk.database;
  Object.defineProperty(disk, 'database', {
    configurable: true,
    get: () => {
      throw new DOMException('Access is denied', 'SecurityError');
    },
  });
  const { history } = await open();
  Object.defineProperty(disk, 'database', { configurable: true, writable: true, value: database });
  expect(await history.receive(cameIn('m'))).toBe(true);
  expect([told, history.untilKept()]).toEqual([['lost'], null]);
});
