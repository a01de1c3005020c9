import type { Message } from '../../../shared/client/index.ts';
import type { Database, MessageItem } from '../../../services/web/history/database.ts';
import { makeHistory, makeTurns, PAGE_ITEMS } from '../../../services/web/history/history.ts';
import { lastText } from '../../../services/web/view/item-words.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';

/** The part of a browser that it needs besides the database. */
class KeyRange {
  readonly #lower: [string, number];
  readonly #upper: [string, number];
  readonly #isOpen: boolean;
  constructor(lower: [string, number], upper: [string, number], isOpen: boolean) {
    [this.#lower, this.#upper, this.#isOpen] = [lower, upper, isOpen];
  }
  static bound = (lower: [string, number], upper: [string, number], _: boolean, isOpen = false): KeyRange =>
    new KeyRange(lower, upper, isOpen);
  includes([thread, at]: [string, number]): boolean {
    const isBelow = this.#isOpen ? at < this.#upper[1] : at <= this.#upper[1];
    return thread === this.#lower[0] && at >= this.#lower[1] && isBelow;
  }
}

const message = (id: string, at: number, thread = 'phone'): MessageItem => ({
  ...{ id, ref: id, thread, at, isMine: false, kind: 'message', text: id, state: 'delivered', error: null },
});

test('an opened message opens its transaction in its turn, because one that waits without requests ends by itself', async () => {
  const database = memoryDatabase();
  const asked: unknown[] = [];
  const transaction = database.transaction.bind(database) as (...given: unknown[]) => unknown;
  Object.assign(database, {
    transaction(stores: unknown, ...more: unknown[]) {
      asked.push(stores);
      return transaction(stores, ...more);
    },
  });
  const inTurn = makeTurns();
  let release = (): void => {};
  const before = inTurn(
    () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  );
  const history = makeHistory(database, () => {}, inTurn);
  const received: Message = {
    ...{ message_id: 'm1', from_device_id: 'phone', from_name: 'Phone', content: '', sealed: 'AQ' },
    ...{ created_at: 1, redelivered: false },
  };
  const stored = history.receiveOpened(received, 'hello', { key: 'mark', value: 1 });
  // That is more turns of the loop than the work before the transaction takes.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual([]);
  release();
  await Promise.all([before, stored]);
  expect(asked).toContainEqual(['items', 'threads', 'settings']);
  expect(await history.settings.get('mark', 0)).toBe(1);
});

describe('a history in memory', () => {
  let database: Database;
  let history: ReturnType<typeof makeHistory>;
  const changed: string[] = [];
  beforeAll(() => Object.assign(globalThis, { IDBKeyRange: KeyRange }));
  afterAll(() => Object.assign(globalThis, { IDBKeyRange: undefined }));
  beforeEach(() => {
    changed.splice(0);
    database = memoryDatabase();
    history = makeHistory(database, (thread) => changed.push(thread), makeTurns());
  });

  async function add(item: MessageItem, name: string): Promise<void> {
    await database.put('items', item);
    await history.note(item, name);
  }

  test('gives pages that together are the thread, also where many have the same time', async () => {
    const times = Array.from({ length: 300 }, (_, i) => Math.floor(i / 70));
    for (const [i, at] of times.entries()) await add(message(`m${String(i).padStart(3, '0')}`, at + 1), 'Phone');
    await add(message('elsewhere', 2, 'tablet'), 'Tablet');
    let from = await history.pageStart('phone');
    const starts = [from];
    while (from > 0) starts.push((from = await history.pageStart('phone', from)));
    expect(starts).toEqual([4, 3, 2, 0]);
    const all = await history.since('phone', 0);
    expect(all.map(({ id }) => id)).toEqual(times.map((_, i) => `m${String(i).padStart(3, '0')}`));
    expect((await history.since('phone', 4)).length).toBeGreaterThanOrEqual(PAGE_ITEMS);
  });

  test('loses no change of two at once, and hands out no item that changes by itself', async () => {
    await add(message('m', 1), 'Phone');
    const before = await history.item('m');
    await Promise.all(
      ['a', 'b', 'c'].map((letter) =>
        history.update('m', (item) => {
          if (item.kind === 'message') item.text += letter;
        }),
      ),
    );
    expect(await history.item('m')).toMatchObject({ text: 'mabc' });
    expect(before).toMatchObject({ text: 'm' });
    expect((await history.threads())[0]).toMatchObject({ unread: 1, name: 'Phone' });
  });

  test('finds what is asked by its reference, keeps settings, and forgets a thread alone', async () => {
    await add(message('m', 1), 'Phone');
    await add(message('other', 1, 'tablet'), 'Tablet');
    await history.settings.set('always-from', ['x']);
    expect(await history.byRef('m')).toMatchObject({ id: 'm' });
    await history.forgetThread('phone');
    expect(await history.since('phone', 0)).toEqual([]);
    expect(await history.since('tablet', 0)).toHaveLength(1);
    expect((await history.threads()).map(({ id }) => id)).toEqual(['tablet']);
    expect(await history.settings.get('always-from', [])).toEqual(['x']);
    expect(changed).toContain('phone');
  });

  test('keeps a sealed message as it came, once, and leaves it in the mailbox', async () => {
    const plain: Message = {
      ...{ message_id: 'm2', from_device_id: 'phone', from_name: 'Phone', content: 'plain', created_at: 5 },
      redelivered: false,
    };
    const came: Message = { ...plain, message_id: 'm1', content: '', sealed: 'AQAAAAE' };
    expect([await history.receive(came), await history.receive(came)]).toEqual([false, false]);
    expect(await history.since('phone', 0)).toMatchObject([{ ref: 'm1', text: '', sealed: 'AQAAAAE' }]);
    expect(await history.threads()).toMatchObject([{ id: 'phone', name: 'Phone', unread: 1 }]);
    expect(lastText(await history.newest('phone'))).toBe('Encrypted. This browser has no key for it.');
    expect(await history.receive(plain)).toBe(true);
  });

  test('opens a sealed message in its place, and notes in the same step that it was taken', async () => {
    const came: Message = {
      ...{ message_id: 'm1', from_device_id: 'phone', from_name: 'Phone', content: '', created_at: 5 },
      ...{ sealed: 'AQAAAAE', redelivered: false },
    };
    await history.receive(came);
    await history.receiveOpened(came, 'a secret', { key: 'sealed-message x', value: { messageId: 'm1', n: 3 } });
    expect(await history.since('phone', 0)).toEqual([
      {
        ...{ id: 'm1', ref: 'm1', thread: 'phone', at: 5, isMine: false, kind: 'message' },
        ...{ text: 'a secret', lock: 'sealed', state: 'delivered', error: null },
      },
    ]);
    expect(await history.settings.get('sealed-message x', null)).toEqual({ messageId: 'm1', n: 3 });
    expect(await history.threads()).toMatchObject([{ unread: 1 }]);
    await history.receiveRefused({ ...came, message_id: 'm2', created_at: 6 });
    expect(lastText(await history.newest('phone'))).toBe('Encrypted, but not genuine, so it is not shown.');
    expect(await history.receive({ ...came, message_id: 'm2' })).toBe(true);
  });
});
