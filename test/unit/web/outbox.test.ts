import { makeLanes } from '../../../services/web/outbox/lanes.ts';
import { pauseMs } from '../../../services/web/outbox/verdict.ts';

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
