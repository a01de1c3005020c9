import { FairScheduler } from '../../../services/sync/relay/pacing/fair-scheduler.ts';

const { jest } = import.meta;

/** That is more than a turn allows. */
const MUCH = 1024 * 1024;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Makes a relay that reads as much as it may, and records whether it may go on. */
function relay(scheduler: FairScheduler) {
  const seen = { times: 0 };
  const read = () => scheduler.allows(MUCH, goOn);
  const goOn = () => void (seen.times += 1);
  return { seen, read };
}

test('a relay that has read enough goes on in the next turn', () => {
  const { seen, read } = relay(new FairScheduler());
  expect(read()).toBe(false);
  jest.advanceTimersByTime(0);
  expect(seen.times).toBe(1);
});

test('relays that have read enough go on one after the other, and none is forgotten', () => {
  const scheduler = new FairScheduler();
  const all = [relay(scheduler), relay(scheduler), relay(scheduler)];
  for (const { read } of all) expect(read()).toBe(false);
  const order = [];
  for (let turn = 0; turn < 3; turn++) {
    jest.advanceTimersToNextTimer();
    order.push(all.map(({ seen }) => seen.times).join(''));
  }
  expect(order).toEqual(['100', '110', '111']);
});

test('where events come often, relays leave the processors alone between two turns, and not afterwards', () => {
  const scheduler = new FairScheduler();
  const { seen, read } = relay(scheduler);
  for (let i = 0; i < 8; i++) scheduler.eventPasses();
  read();
  jest.advanceTimersByTime(0);
  expect(seen.times).toBe(0);
  jest.advanceTimersByTime(1);
  expect(seen.times).toBe(1);
  jest.advanceTimersByTime(1_000);
  read();
  jest.advanceTimersByTime(0);
  expect(seen.times).toBe(2);
});

test('a few events stop no relay', () => {
  const scheduler = new FairScheduler();
  const { seen, read } = relay(scheduler);
  for (let i = 0; i < 7; i++) scheduler.eventPasses();
  read();
  jest.advanceTimersByTime(0);
  expect(seen.times).toBe(1);
});
