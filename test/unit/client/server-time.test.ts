import { makeServerTime } from '../../../shared/client/time/server-time.ts';

const AT = Date.parse('Wed, 25 Nov 2026 22:00:00 GMT');
const dateAt = (ms: number): string => new Date(ms).toUTCString();

describe('the clock of the service', () => {
  /** Gives the clock an answer that took this long, made while the clocks were this far apart. */
  const hear = (time: ReturnType<typeof makeServerTime>, aheadMs: number, askedAt: number, tookMs = 40): void =>
    time.hear(dateAt(askedAt + aheadMs + tookMs / 2), askedAt, askedAt + tookMs);

  test('is ours where nothing contradicts it, and before anything was heard', () => {
    const time = makeServerTime();
    expect(time.offsetMs()).toBe(0);
    for (let i = 0; i < 20; i += 1) hear(time, 0, AT + i * 137);
    expect(time.offsetMs()).toBe(0);
  });

  test.each([600_000, -600_000, 5_000])('is found when it is %d ms ahead, better with each answer', (aheadMs) => {
    const time = makeServerTime();
    hear(time, aheadMs, AT + 500);
    expect(Math.abs(time.offsetMs() - aheadMs)).toBeLessThan(1_100);
    for (let i = 0; i < 40; i += 1) hear(time, aheadMs, AT + 500 + i * 137);
    expect(Math.abs(time.offsetMs() - aheadMs)).toBeLessThan(150);
  });

  test('is found again when one of the clocks was set', () => {
    const time = makeServerTime();
    hear(time, 600_000, AT);
    hear(time, 0, AT + 1_000);
    expect(time.offsetMs()).toBe(0);
    hear(time, -90_000, AT + 2_000);
    expect(Math.abs(time.offsetMs() + 90_000)).toBeLessThan(1_100);
  });

  test('is not taken from an answer that says none, or during which our clock was set back', () => {
    const time = makeServerTime();
    time.hear(null, AT, AT + 10);
    time.hear('yesterday', AT, AT + 10);
    time.hear(dateAt(AT + 600_000), AT, AT - 1);
    expect(time.offsetMs()).toBe(0);
  });

  test('is not believed to be far off after a slow answer', () => {
    const time = makeServerTime();
    hear(time, 0, AT, 30_000);
    expect(time.offsetMs()).toBe(0);
  });
});
