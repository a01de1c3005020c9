import { pauseMs } from '../../../services/sync/push/delivery/deliverer.ts';
import { makeLanes } from '../../../services/sync/push/delivery/lanes.ts';

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

describe('lanes', () => {
  /** Work that lasts until it is told to end. */
  function makeWork() {
    const began: string[] = [];
    const ends = new Map<string, () => void>();
    return {
      began,
      end: (name: string) => ends.get(name)?.(),
      work: (name: string) => () =>
        new Promise<void>((resolve) => {
          began.push(name);
          ends.set(name, resolve);
        }),
    };
  }

  test('take so much at once and no more, in the order of asking', async () => {
    const lanes = makeLanes(2);
    const { began, end, work } = makeWork();
    const [a, ...others] = ['a', 'b', 'c', 'd'].map((name) => lanes.run('one', work(name)));
    expect(began).toEqual(['a', 'b']);
    end('a');
    await a;
    expect(began).toEqual(['a', 'b', 'c']);
    end('b');
    end('c');
    await Promise.all(others.slice(0, 2));
    end('d');
    await others[2];
    expect(began).toEqual(['a', 'b', 'c', 'd']);
  });

  test('do not hold up one another', () => {
    const lanes = makeLanes(1);
    const { began, work } = makeWork();
    for (const name of ['slow', 'slower']) void lanes.run('slow', work(name));
    void lanes.run('quick', work('quick'));
    expect(began).toEqual(['slow', 'quick']);
  });

  test('go on after work that failed', async () => {
    const lanes = makeLanes(1);
    const failed = lanes.run('one', () => Promise.reject(new Error('no')));
    const next = lanes.run('one', () => Promise.resolve('done'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('done');
  });
});
