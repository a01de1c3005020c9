import { makePaced } from '../../../services/web/engine/paced.ts';

const { jest } = import.meta;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Makes work that notes when it began, and ends at once. */
function makeWork() {
  const begun: number[] = [];
  const start = performance.now();
  return { begun, run: makePaced(async () => void begun.push(performance.now() - start)) };
}

test('it runs at once, and a burst of calls runs once more, after a pause', async () => {
  const { begun, run } = makeWork();
  await run();
  expect(begun).toEqual([0]);
  const all = Array.from({ length: 50 }, () => run());
  await jest.advanceTimersByTimeAsync(99);
  expect(begun).toEqual([0]);
  await jest.advanceTimersByTimeAsync(1);
  await Promise.all(all);
  expect(begun).toEqual([0, 100]);
});

test('a call after the pause runs at once', async () => {
  const { begun, run } = makeWork();
  await run();
  await jest.advanceTimersByTimeAsync(150);
  await run();
  expect(begun).toEqual([0, 150]);
});

test('a call while it runs is not lost', async () => {
  const ends: (() => void)[] = [];
  let seen = 'old';
  const read: string[] = [];
  const run = makePaced(async () => {
    const found = seen;
    await new Promise<void>((resolve) => void ends.push(resolve));
    read.push(found);
  });
  const first = run();
  seen = 'new';
  const second = run();
  ends.shift()?.();
  await jest.advanceTimersByTimeAsync(100);
  ends.shift()?.();
  await Promise.all([first, second]);
  expect(read).toEqual(['old', 'new']);
});

test('a call while it runs is not lost when that run fails', async () => {
  let found = 'old';
  const read: string[] = [];
  const run = makePaced(async () => {
    const seen = found;
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (seen === 'old') throw new Error('no');
    read.push(seen);
  });
  const first = run();
  found = 'new';
  const second = run();
  await jest.advanceTimersByTimeAsync(140);
  await Promise.all([first, second]);
  expect(read).toEqual(['new']);
});

test('after a failure the next call runs', async () => {
  let isBroken = true;
  const run = makePaced(async () => {
    if (isBroken) throw new Error('no');
  });
  await expect(run()).rejects.toThrow('no');
  isBroken = false;
  const next = run();
  await jest.advanceTimersByTimeAsync(100);
  await next;
});
