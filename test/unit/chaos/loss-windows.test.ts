import type { Fault } from '../../chaos/history.ts';
import { clipboard, kindsFound, message, Planted, ready } from './planted.ts';

/*
 * A primary dies at 20,000 and follows its successor from 35,000 on. The successor has accepted everything that was
 * sent in between, so none of that is lost, whatever the old primary does. Each test plants a violation that went
 * unnoticed while a loss lasted until the fault's end.
 */

const KILLED_AT = 20_000;
const DEAD_AT = 20_100;

let planted: Planted;
beforeEach(() => {
  planted = new Planted();
});

/** Returns what is found if the loss lasts as long as its fault (`before`), and if it ends with the kill (`now`). */
function found(options: { since?: number | null; movedClock?: boolean } = {}): { before: string[]; now: string[] } {
  const { since = KILLED_AT - 2_000, movedClock = false } = options;
  const { faults } = planted.history;
  planted.fault('primary-kill', KILLED_AT, 35_000, { loss: { since, times: 1 }, movedClock });
  const before = kindsFound(planted.history);
  Object.assign((faults.at(-1) as Fault).loss ?? {}, { until: DEAD_AT });
  return { before, now: kindsFound(planted.history) };
}

describe('what was sent after a primary was dead', () => {
  test('and never came is lost by us', () => {
    planted.ask('message', 25_000);
    planted.quiet(60_000);
    expect(found()).toEqual({ before: [], now: ['loss', 'late'] });
  });

  test('and came too late on an open stream is late', () => {
    const { number } = planted.ask('message', 25_000);
    planted.receive('a-1', 56_000, message(number));
    expect(found()).toEqual({ before: [], now: ['late'] });
  });

  test('is not excused by a reset for a store that lost everything, but where it stands after it', () => {
    const { number } = planted.ask('clipboard', 25_000);
    planted.receive('a-0', 24_000, ready('store_lost'), '24900-1');
    planted.receive('a-0', 25_002, clipboard(number), '26000-1');
    planted.receive('a-1', 25_001, ready('store_lost'), '25000-1');
    planted.quiet(60_000);
    expect(found({ since: null })).toEqual({ before: [], now: ['loss', 'late'] });
  });

  test('and has the lower id of two is in disorder, also where the heir has another clock', () => {
    const { number: early } = planted.ask('clipboard', 25_000);
    const { number: late } = planted.ask('clipboard', 26_000);
    for (const name of ['a-0', 'a-1']) {
      planted.receive(name, 26_002, clipboard(late), '25500-1');
      planted.receive(name, 26_003, clipboard(early), '25600-1');
    }
    expect(found({ movedClock: true })).toEqual({ before: [], now: ['order'] });
  });

  test('and came under two ids happened twice', () => {
    const { number } = planted.ask('clipboard', 25_000);
    for (const name of ['a-0', 'a-1']) {
      planted.receive(name, 25_002, clipboard(number), '25500-1');
      planted.receive(name, 30_002, clipboard(number), '30500-1');
    }
    expect(found()).toEqual({ before: [], now: ['double'] });
  });

  test('and was refused must not come', () => {
    Object.assign(planted.deliver(25_000, '25500-1'), { outcome: 'refused', code: 'not_found' });
    expect(found()).toEqual({ before: [], now: ['refused but delivered'] });
  });
});

describe('a position that was issued long after a primary was dead', () => {
  test('is not lost with it, nor the order after it', () => {
    planted.deliver(36_000, '36500-1');
    planted.receive('a-1', 40_000, ready('gap'), '36400-1');
    expect(found()).toEqual({ before: [], now: ['reset', 'order'] });
  });

  test('shares its milliseconds with no other', () => {
    planted.receive('a-0', 36_000, { name: 'clipboard:cleared' }, '36500-1');
    planted.receive('a-1', 36_001, { name: 'clipboard:cleared' }, '36500-2');
    expect(found()).toEqual({ before: [], now: ['order'] });
  });
});

describe('what a stream has passed by', () => {
  /** Adds a much later loss that every device is told of. It covers what a stream had not reached by then. */
  function loseLater(): void {
    planted.fault('flushall', 20_000, 20_010, { loss: { since: null, times: 1 } });
    for (const name of ['a-0', 'a-1']) planted.receive(name, 21_000, ready('store_lost'), '22000-1');
    planted.quiet(60_000);
  }

  test('is lost, though a reset follows: that gives up only what was still to come', () => {
    const { number } = planted.ask('clipboard', 100);
    planted.receive('a-0', 102, clipboard(number), '1100-1');
    loseLater();
    expect(kindsFound(planted.history)).toEqual([]);

    const later = planted.ask('clipboard', 200);
    for (const { device, frames } of planted.history.devices.slice(0, 2)) {
      frames.pop();
      planted.receive(device, 202, clipboard(later.number), '1200-1');
    }
    planted.history.faults.pop();
    planted.history.checkpoints.pop();
    loseLater();
    expect(kindsFound(planted.history)).toEqual(['loss']);
  });

  test('may have been lost by the store, where a loss lies between the two', () => {
    planted.fault('failover', 99, 150, { loss: { since: 90, times: 1 } });
    planted.ask('clipboard', 100);
    const later = planted.ask('clipboard', 200);
    for (const name of ['a-0', 'a-1']) planted.receive(name, 202, clipboard(later.number), '1200-1');
    loseLater();
    expect(kindsFound(planted.history)).toEqual([]);
  });
});

describe('what a primary may have lost when it died', () => {
  test('is what was sent before, though its answer came after', () => {
    Object.assign(planted.ask('message', DEAD_AT - 50), { answeredAt: 22_000 });
    planted.quiet(60_000);
    expect(found().now).toEqual([]);
  });

  test('is a position that a paused replica brought long after', () => {
    planted.deliver(30_000, '20000-1');
    planted.receive('a-1', 31_000, ready('gap'), '31000-1');
    expect(found().now).toEqual([]);
  });

  test('is a position that a stream had reached without telling it: an event for another device', () => {
    planted.deliver(KILLED_AT - 3_000, '17500-1');
    planted.ask('clipboard', KILLED_AT - 100);
    planted.receive('a-1', 22_000, ready('gap'), '22500-1');
    planted.receive('a-0', 22_000, ready('gap'), '22500-1');
    expect(found().now).toEqual([]);
  });

  test('is no position that somebody had seen before its tail', () => {
    planted.deliver(KILLED_AT - 3_000, '17500-1');
    planted.receive('a-1', 22_000, ready('gap'), '22500-1');
    expect(found().now).toEqual(['reset']);
  });
});
