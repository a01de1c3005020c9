import { drainPlan } from '../../services/sync/drain-plan.ts';

const DEFAULT = { noticeSeconds: 10, streamsSeconds: 25, transfersSeconds: 300, shutdownSeconds: null };

test('what a stop takes is notice, the longer of the two drains, and 15 s', () => {
  expect(drainPlan(DEFAULT)).toEqual({
    ...{ totalMs: 325_000, noticeMs: 10_000, streamsMs: 25_000, transfersMs: 300_000, requestsMs: 5_000 },
  });
  expect(drainPlan({ ...DEFAULT, transfersSeconds: 0 }).totalMs).toBe(50_000);
});

test('a longer budget makes nothing longer', () => {
  expect(drainPlan({ ...DEFAULT, shutdownSeconds: 600 })).toEqual(drainPlan(DEFAULT));
});

test.each([1, 5, 10, 30, 60, 324])('everything fits into a budget of %i s', (shutdownSeconds) => {
  const { totalMs, noticeMs, streamsMs, transfersMs, requestsMs } = drainPlan({ ...DEFAULT, shutdownSeconds });
  expect(totalMs).toBe(shutdownSeconds * 1000);
  expect(noticeMs + Math.max(streamsMs, transfersMs) + requestsMs).toBeLessThan(totalMs);
  expect(streamsMs).toBeGreaterThan(0);
});

test('in the grace period of a default pod every stream is told to go', () => {
  expect(drainPlan({ ...DEFAULT, shutdownSeconds: 30 })).toMatchObject({ noticeMs: 10_000, streamsMs: 10_000 });
});
