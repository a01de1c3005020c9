import { makeClockWatch } from '../../../services/sync/replicas/clock-watch.ts';
import { StoreClock } from '../../../services/sync/replicas/failure-detection/store-clock.ts';
import { makeLogger } from '../../../shared/service-kit/telemetry/logger.ts';

/* Whether the clock of this machine is right, by the clock of the store. */

/** Gives the watch a reading of a store whose clock is this much behind that of this machine. */
function read(clock: StoreClock, behindMs: number, tookMs = 0): void {
  const nowMs = performance.now();
  clock.observe(Date.now() - behindMs - tookMs / 2, nowMs - tookMs, nowMs);
}

test('how far the clocks are apart is known after the first reading, and the time of the store follows from it', () => {
  const clock = new StoreClock();
  expect(clock.skewMs).toBeNull();
  expect(Math.abs(clock.nowMs() - Date.now())).toBeLessThan(1_000);
  read(clock, 3_600_000);
  expect(Math.round((clock.skewMs as number) / 1000)).toBe(3_600);
  expect(Math.abs(clock.nowMs() - (Date.now() - 3_600_000))).toBeLessThan(1_000);
});

test('a reading that took long changes nothing', () => {
  const clock = new StoreClock();
  read(clock, 0);
  read(clock, 10_000, 1_900);
  expect(Math.abs(clock.skewMs as number)).toBeLessThan(1_000);
});

test('clocks that are over two seconds apart are told once, in either direction, and once more when they agree', () => {
  const lines: string[] = [];
  const logger = makeLogger({ level: 'info', server: 'test' }, { write: (text) => lines.push(JSON.parse(text).msg) });
  let skewMs: number | null = null;
  const watch = makeClockWatch({ skewMs: () => skewMs, logger });
  for (const ms of [null, 1_900, -1_900, 3_000, 3_100, 0, -3_600_000]) {
    skewMs = ms;
    watch.look();
  }
  expect(lines).toEqual([
    'the clock of this machine is 3 s ahead of that of the store: one of them is wrong',
    'the clocks of this machine and of the store agree again',
    'the clock of this machine is 3600 s behind that of the store: one of them is wrong',
  ]);
  expect(watch.warning()).toBe(lines[2]);
});
