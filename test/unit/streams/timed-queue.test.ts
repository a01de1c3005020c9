import { TimedQueue } from '../../../services/sync/streams/upkeep/timed-queue.ts';

const { jest } = import.meta;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const serve = (queue: TimedQueue<string>, most = 100): string[] => {
  const served: string[] = [];
  queue.serve(most, (item) => served.push(item));
  return served;
};

const after = (ms: number): number => performance.now() + ms;

test('nothing is done before its time, and what is due is done once, the earlier first', () => {
  const queue = new TimedQueue<string>(() => undefined);
  queue.add('late', after(500));
  queue.add('early', after(100));
  queue.add('soon', 0);
  expect(serve(queue)).toEqual(['soon']);
  jest.advanceTimersByTime(99);
  expect(serve(queue)).toEqual([]);
  jest.advanceTimersByTime(30);
  expect(serve(queue)).toEqual(['early']);
  jest.advanceTimersByTime(3_600_000);
  queue.add('new', 0);
  expect(serve(queue)).toEqual(['late', 'new']);
  expect(queue.size).toBe(0);
});

test('what is asked for again while it waits keeps its place, so that the others come too', () => {
  const queue = new TimedQueue<string>(() => undefined);
  const items = ['a', 'b', 'c', 'd', 'e'];
  const served = new Set<string>();
  for (let round = 0; round < 3; round++) {
    for (const item of items) queue.add(item, 0);
    for (const item of serve(queue, 2)) served.add(item);
    jest.advanceTimersByTime(30);
  }
  expect([...served]).toEqual(items);
});

test('more than may be done at once is done the next time, in the order in which it came', () => {
  const queue = new TimedQueue<string>(() => undefined);
  for (const item of ['a', 'b', 'c', 'd', 'e']) queue.add(item, 0);
  expect(serve(queue, 2)).toEqual(['a', 'b']);
  expect(serve(queue, 0)).toEqual([]);
  expect(serve(queue, 2)).toEqual(['c', 'd']);
  expect(serve(queue, 2)).toEqual(['e']);
});

test('another time takes the place of the one that it had, unless the earlier one is to count', () => {
  const queue = new TimedQueue<string>(() => undefined);
  queue.add('put off', after(100));
  queue.add('put off', after(1_000));
  queue.add('kept', after(100));
  queue.addEarlier('kept', after(1_000));
  queue.add('brought forward', after(1_000));
  queue.addEarlier('brought forward', after(100));
  queue.add('dropped', after(100));
  queue.delete('dropped');
  jest.advanceTimersByTime(130);
  expect(serve(queue)).toEqual(['kept', 'brought forward']);
  expect([queue.size, queue.has('put off'), queue.has('dropped')]).toEqual([1, true, false]);
  jest.advanceTimersByTime(1_000);
  expect(serve(queue)).toEqual(['put off']);
});

test('what is added while others are done, to be done at once, is done in the same go', () => {
  const queue = new TimedQueue<string>(() => undefined);
  queue.add('first', 0);
  const served: string[] = [];
  queue.serve(10, (item) => {
    served.push(item);
    if (item === 'first') queue.add('second', 0);
  });
  expect(served).toEqual(['first', 'second']);
  expect(queue.size).toBe(0);
});
