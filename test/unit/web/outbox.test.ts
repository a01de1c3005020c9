import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonClientError } from '../../../shared/client/index.ts';
import type { MessageItem } from '../../../services/web/history/database.ts';
import { makeHistory, makeTurns } from '../../../services/web/history/history.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';
import type { Parts } from '../../../services/web/engine/parts.ts';
import { makeLanes } from '../../../services/web/outbox/lanes.ts';
import { makeQueue } from '../../../services/web/outbox/queue.ts';
import { makeSendingMessages } from '../../../services/web/outbox/sending-messages.ts';
import { pauseMs } from '../../../services/web/outbox/verdict.ts';
import { isKeyProblem } from '../../../shared/client/sealing/key-problems.ts';

const { jest } = import.meta;

/** Above this, timers of browsers end at once. */
const MOST_TIMER_MS = 2 ** 31 - 1;

describe('the pause before what waits is tried again', () => {
  test.each([0, 1_000, 120_000])('is what the service asks for, %d ms, or longer', (asked) => {
    expect(pauseMs(0, asked)).toBeGreaterThanOrEqual(asked);
  });

  test.each([86_400_000, 2_592_000_000, 999_999_999_000])('is minutes where something asks for %d ms', (asked) => {
    expect(pauseMs(0, asked)).toBeLessThan(MOST_TIMER_MS);
    expect(pauseMs(0, asked)).toBe(600_000);
  });
});

describe('a line whose work throws', () => {
  /** Runs a line whose work throws these errors, one after the other, and then ends. */
  async function run(...thrown: Error[]): Promise<number> {
    let turns = 0;
    let tell = () => {};
    const over = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const lanes = makeLanes('test', async () => {
      const error = thrown[turns];
      turns += 1;
      if (error === undefined || error.name === 'InvalidStateError') tell();
      if (error !== undefined) throw error;
      return null;
    });
    const first = lanes.run('a');
    await over;
    await first;
    return turns;
  }

  test('is worked at again: a full disk and an aborted transaction go by', async () => {
    const full = new DOMException('no space', 'QuotaExceededError');
    expect(await run(full, new DOMException('aborted', 'AbortError'))).toBe(3);
  });

  test('is left where the database is closed', async () => {
    jest.useFakeTimers();
    try {
      expect(await run(new DOMException('closing', 'InvalidStateError'))).toBe(1);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a message that waits to be sent encrypted', () => {
  beforeAll(() => Object.assign(globalThis, { IDBKeyRange: { bound: () => ({ includes: () => false }) } }));
  afterAll(() => Object.assign(globalThis, { IDBKeyRange: undefined }));

  test('is sent with the same key as long as it is the same, and with another once it is sealed anew', async () => {
    const queue = makeQueue(memoryDatabase(), () => {}, makeTurns());
    await queue.add({
      ...{ id: 'm', ref: '', thread: 'phone', at: 1, isMine: true, kind: 'message' },
      ...{ text: 'a secret', state: 'sending', error: null },
    });
    const [old, fresh] = [
      { epoch: 1, sealed: 'AQ' },
      { epoch: 2, sealed: 'Ag' },
    ];
    const first = await queue.hold('m', 'laptop', old);
    const again = await queue.hold('m', 'laptop', old);
    expect([again?.key, again?.envelope]).toEqual([first?.key, old]);
    const later = await queue.hold('m', 'laptop', fresh);
    expect(later?.envelope).toEqual(fresh);
    expect(later?.key).not.toBe(first?.key);
    expect(await queue.all()).toEqual([later]);
    expect(await queue.hold('elsewhere', 'laptop', old)).toBeNull();
  });

  test('changes places with another, and none is lost where the other does not wait any more', async () => {
    const told: string[] = [];
    const queue = makeQueue(memoryDatabase(), (thread) => told.push(thread), makeTurns());
    for (const id of ['a', 'b', 'c']) {
      await queue.add({
        ...{ id, ref: '', thread: 'phone', at: 1, isMine: true, kind: 'message' },
        ...{ text: id, state: 'sending', error: null },
      });
    }
    const order = async () => (await queue.all()).map(({ id }) => id).join('');
    await queue.swap('a', 'c');
    expect(await order()).toBe('cba');
    const before = told.length;
    await queue.swap('a', 'gone');
    expect([await order(), told.length]).toEqual(['cba', before]);
  });

  test.each(['keys_lost', 'rotation_due', 'unknown_key', 'devices_disagree', 'bad_ring', 'bad_guests'])(
    'waits, and is not sent unencrypted, for %s',
    (code) => {
      expect(isKeyProblem(new BatonClientError(code, code))).toBe(true);
      expect(isKeyProblem(new BatonClientError('unkeyed_receiver', code))).toBe(false);
    },
  );
});

describe('messages to one receiver that are too many', () => {
  beforeAll(() => Object.assign(globalThis, { IDBKeyRange: { bound: () => ({ includes: () => false }) } }));
  afterAll(() => Object.assign(globalThis, { IDBKeyRange: undefined }));

  /** Makes an outbox whose service refuses the first message with this code, for a minute. */
  async function refusedWith(code: string) {
    const items = new Map<string, object>();
    const queue = makeQueue(memoryDatabase(), () => {}, makeTurns());
    const told: { ids: readonly string[]; reason: string | null }[] = [];
    let asked = 0;
    const parts = {
      entry: { userId: 'ann', deviceId: 'laptop' },
      history: { item: (id: string) => Promise.resolve(items.get(id)) },
      keys: { toSend: () => Promise.resolve(null) },
      queue: {
        ...queue,
        tell: async (ids: readonly string[], reason: string | null) => {
          await queue.tell(ids, reason);
          told.push({ ids, reason });
        },
      },
      readiness: {
        look: () => Promise.resolve(null),
        requireSession: () => Promise.resolve(),
        askFirst: () => {},
        truthOf: (one: string) => one,
      },
      client: {
        messages: {
          send: () => {
            asked += 1;
            const details = { action: 'retry', retryAfterMs: 60_000, outcome: 'none', status: 429 } as const;
            return Promise.reject(new BatonClientError(code, code, details));
          },
        },
      },
    } as unknown as Parts;
    const sending = makeSendingMessages(parts);
    /** Writes a message, and resolves when the line has looked at it. */
    return async (id: string): Promise<number> => {
      const item = { id, ref: '', thread: 'phone', at: 1, isMine: true, kind: 'message', text: id } as const;
      items.set(id, { ...item, state: 'sending', error: null });
      await queue.add({ ...item, state: 'sending', error: null });
      const before = told.length;
      sending.send('phone');
      while (told.length === before) await nextTurn();
      expect(told.at(-1)).toEqual({ ids: [...items.keys()], reason: code });
      return asked;
    };
  }

  test('wait as long as the service asks for, also those that are written meanwhile', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    try {
      const write = await refusedWith('rate_limited');
      expect([await write('a'), await write('b'), await write('c')]).toEqual([1, 1, 1]);
    } finally {
      jest.useRealTimers();
    }
  });

  test('are tried at once where something else was the cause', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    try {
      const write = await refusedWith('store_unavailable');
      expect([await write('a'), await write('b')]).toEqual([1, 2]);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a message that the browser cannot seal or note now', () => {
  beforeAll(() => Object.assign(globalThis, { IDBKeyRange: { bound: () => ({ includes: () => false }) } }));
  afterAll(() => Object.assign(globalThis, { IDBKeyRange: undefined }));
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  const lost = new DOMException('Connection to Indexed Database server lost', 'UnknownError');
  const message: MessageItem = {
    ...{ id: 'm', ref: '', thread: 'phone', at: 1, isMine: true, kind: 'message' },
    ...{ text: 'a secret', state: 'sending', error: null },
  };

  /** Lets the work go on that waits for no timer. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 30; turn += 1) await nextTurn();
  }

  /** Makes a tab in which the first sealing, or the first note that a message was sent, fails. */
  async function scene(failing: 'seal' | 'sent') {
    const [database, inTurn, posted] = [memoryDatabase(), makeTurns(), [] as string[]];
    const [queue, history] = [makeQueue(database, () => {}, inTurn), makeHistory(database, () => {}, inTurn)];
    let isFirst = true;
    const orFail = <T>(step: string, work: () => T): T => {
      if (step !== failing || !isFirst) return work();
      isFirst = false;
      throw lost;
    };
    const sealing = {
      seal: async () => orFail('seal', () => ({ epoch: 1, sealed: 'AQ' })),
      async post(_to: string, _envelope: object, { idempotencyKey }: { idempotencyKey: string }) {
        posted.push(idempotencyKey);
        return { message_id: 'message-1', created_at: 2 };
      },
    };
    const parts = {
      ...{ history, entry: { userId: 'ann', deviceId: 'laptop' } },
      queue: {
        ...queue,
        sent: async (...given: Parameters<typeof queue.sent>) => orFail('sent', () => queue.sent(...given)),
      },
      keys: { toSend: () => Promise.resolve(sealing) },
      readiness: {
        look: () => Promise.resolve(null),
        requireSession: () => Promise.resolve(),
        askFirst: () => {},
        truthOf: (one: string) => one,
      },
    } as unknown as Parts;
    await queue.add(message);
    makeSendingMessages(parts).send('phone');
    await settle();
    return { history, posted, queue };
  }

  test('waits with the reason, and is sealed and sent later', async () => {
    const { history, queue } = await scene('seal');
    expect(await history.item('m')).toMatchObject({ state: 'sending', error: 'storage_failed' });
    expect(await queue.all()).toMatchObject([{ id: 'm', unknownSince: null }]);
    await jest.advanceTimersByTimeAsync(1_000);
    await settle();
    expect(await history.item('m')).toMatchObject({ state: 'sent', ref: 'message-1' });
  });

  test('is sent again with the same key, and counts as one that may have arrived', async () => {
    const { history, posted, queue } = await scene('sent');
    expect(await history.item('m')).toMatchObject({ state: 'sending' });
    expect((await queue.all())[0]?.unknownSince).toEqual(expect.any(Number));
    await jest.advanceTimersByTimeAsync(1_000);
    await settle();
    expect(await history.item('m')).toMatchObject({ state: 'sent' });
    expect(new Set(posted).size).toBe(1);
    expect(posted).toHaveLength(2);
  });
});
