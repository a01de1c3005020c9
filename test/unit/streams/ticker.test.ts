import { Ticker } from '../../../services/sync/streams/upkeep/ticker.ts';

const { jest } = import.meta;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('it ticks seldom while all is quiet, and at once when something is to do', () => {
  let [ticks, isQuiet] = [0, true];
  const ticker = new Ticker(
    () => {
      ticks += 1;
      return isQuiet;
    },
    25,
    250,
  );
  ticker.wake();
  expect(jest.getTimerCount()).toBe(0);

  ticker.start();
  jest.advanceTimersByTime(25);
  expect(ticks).toBe(1);
  jest.advanceTimersByTime(249);
  expect(ticks).toBe(1);
  isQuiet = false;
  ticker.wake();
  jest.advanceTimersByTime(25);
  expect(ticks).toBe(2);
  // Repeated wake-ups do not delay the next tick.
  jest.advanceTimersByTime(20);
  ticker.wake();
  jest.advanceTimersByTime(5);
  expect(ticks).toBe(3);
  expect(jest.getTimerCount()).toBe(1);
});

test('one that is woken, or stopped, by what it does has one timer, or none', () => {
  const ticker: Ticker = new Ticker(
    () => {
      ticker.wake();
      return true;
    },
    25,
    250,
  );
  ticker.start();
  jest.advanceTimersByTime(25 + 250);
  expect(jest.getTimerCount()).toBe(1);
  ticker.stop();

  const stopping: Ticker = new Ticker(
    () => {
      stopping.stop();
      return false;
    },
    25,
    250,
  );
  stopping.start();
  jest.advanceTimersByTime(25);
  expect(jest.getTimerCount()).toBe(0);
});
