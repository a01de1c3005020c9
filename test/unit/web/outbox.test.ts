import { pauseMs } from '../../../services/web/outbox/verdict.ts';

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
