import { pauseMs } from '../../../services/sync/push/delivery/verdict.ts';

describe('the pause before another try', () => {
  const many = (attempts: number, afterMs: number | null) =>
    Array.from({ length: 200 }, () => pauseMs(attempts, afterMs));

  test('doubles, differs for each, and ends at a quarter of an hour', () => {
    for (const [attempts, most] of [
      [0, 5_000],
      [1, 10_000],
      [3, 40_000],
      [50, 900_000],
    ] as const) {
      const pauses = many(attempts, null);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(most);
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(most / 2);
      expect(new Set(pauses).size).toBeGreaterThan(100);
    }
  });

  test('is never shorter than the push service said', () => {
    for (const afterMs of [5_000, 60_000, 3_600_000]) {
      const pauses = many(0, afterMs);
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(afterMs);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(afterMs + Math.max(1_000, afterMs / 5));
      expect(new Set(pauses).size).toBeGreaterThan(100);
    }
  });

  test('is no shorter for a push service that says "at once", or a time that is over, again and again', () => {
    for (const afterMs of [0, 1_000]) {
      expect(Math.min(...many(0, afterMs))).toBeGreaterThanOrEqual(2_500);
      expect(Math.min(...many(3, afterMs))).toBeGreaterThanOrEqual(20_000);
      expect(Math.min(...many(50, afterMs))).toBeGreaterThanOrEqual(450_000);
    }
  });
});
