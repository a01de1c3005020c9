import { BatonClientError } from '../../../shared/client/index.ts';
import { makeTurns } from '../../../services/web/history/history.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';
import { makeLanes } from '../../../services/web/outbox/lanes.ts';
import { makeQueue } from '../../../services/web/outbox/queue.ts';
import { isKeyProblem, pauseMs } from '../../../services/web/outbox/verdict.ts';

const { jest } = import.meta;

/** Timers of browsers end at once above this. */
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
  /** Runs a line whose work throws these, one after the other, and then ends. */
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
