import { makeSampler } from '../../../shared/service-kit/telemetry/sampler.ts';

test('the first of each second are let through, and the next is told how many were left out', () => {
  let nowMs = 0;
  const sample = makeSampler(2, () => nowMs);
  expect([1, 2, 3, 4, 5].map(() => sample())).toEqual([0, 0, null, null, null]);
  nowMs = 999;
  expect(sample()).toBeNull();
  nowMs = 1_000;
  expect([1, 2, 3].map(() => sample())).toEqual([4, 0, null]);
  nowMs = 60_000;
  expect(sample()).toBe(1);
});
