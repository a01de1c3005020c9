import { type Announcement, Announcer } from '../../../services/sync/redis/bus/announcer.ts';
import type { Metrics } from '../../../services/sync/telemetry/metrics.ts';

const { jest } = import.meta;

type Answer = number | 'fails';

const EVENT: Announcement = { channel: 'bus:a', label: 'message', payload: 'e' };
const SECOND = 1_000;

/** Makes an announcer whose announcements get these answers, one after the other, and the last one from then on. */
function setUp({
  answers = [1] as Answer[],
  notify = () => Promise.resolve(),
  isDeadChannel = (): boolean => false,
} = {}) {
  const counts: string[] = [];
  const counter = (name: string) => ({
    inc: (labels: object) => counts.push([name, ...Object.values(labels)].join(' ')),
  });
  const metrics = {
    events_published_total: counter('published'),
    announcements_repeated_total: counter('repeated'),
    accounts_notified_total: counter('notified'),
  } as unknown as Metrics;
  const publish = jest.fn<Promise<number>, [channel: string, payload: string]>(() => {
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) as Answer;
    return answer === 'fails' ? Promise.reject(new Error('away')) : Promise.resolve(answer);
  });
  const notified = jest.fn(notify);
  const announcer = new Announcer({ publish, notify: notified, isDeadChannel, metrics });
  return { announcer, publish, notified, counts };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('what nobody heard is announced again until somebody does', async () => {
  const { announcer, publish, counts } = setUp({ answers: [0, 0, 1] });
  announcer.announce(EVENT);
  await jest.advanceTimersByTimeAsync(60 * SECOND);

  expect(publish.mock.calls).toEqual([1, 2, 3].map(() => ['bus:a', 'e']));
  expect(counts).toEqual(['published message unheard', 'repeated heard']);
});

test('a channel that stays unheard is left to its owner within two seconds', async () => {
  const { announcer, publish, counts } = setUp({ answers: [0] });
  announcer.announce(EVENT);
  await jest.advanceTimersByTimeAsync(2 * SECOND);

  expect(publish).toHaveBeenCalledTimes(4);
  expect(counts).toEqual(['published message unheard', 'repeated given_up']);
});

test('one that could not be made is tried for as long as a way to the store may be cut', async () => {
  const { announcer, publish, counts } = setUp({ answers: ['fails', 'fails', 'fails', 'fails', 'fails', 1] });
  announcer.announce(EVENT);
  await jest.advanceTimersByTimeAsync(5 * SECOND);
  expect(counts).toEqual(['published message failed']);

  await jest.advanceTimersByTimeAsync(60 * SECOND);
  expect(publish).toHaveBeenCalledTimes(6);
  expect(counts).toEqual(['published message failed', 'repeated heard']);
});

test('one of a passing state is not repeated when a newer one may have come', async () => {
  const { announcer, publish, counts } = setUp({ answers: ['fails'] });
  announcer.announce({ ...EVENT, payload: 'u\nann\ntransfer:updated' });
  await jest.advanceTimersByTimeAsync(2 * SECOND);

  expect(publish).toHaveBeenCalledTimes(4);
  expect(counts).toContain('repeated given_up');
});

test('one that could be made in the end, but that nobody heard, is repeated from the beginning', async () => {
  const { announcer, publish, counts } = setUp({ answers: ['fails', 'fails', 'fails', 'fails', 0, 1] });
  announcer.announce(EVENT);
  await jest.advanceTimersByTimeAsync(60 * SECOND);

  expect(publish).toHaveBeenCalledTimes(6);
  expect(counts.at(-1)).toBe('repeated heard');
});

test('one that is now taken and now not is given up in the end', async () => {
  const answers = Array.from({ length: 100 }, (_, i): Answer => (i % 2 === 0 ? 'fails' : 0));
  const { announcer, publish, counts } = setUp({ answers });
  announcer.announce(EVENT);
  await jest.advanceTimersByTimeAsync(120 * SECOND);

  expect(publish.mock.calls.length).toBeLessThan(10);
  expect(counts.at(-1)).toBe('repeated given_up');
});

test('to a replica that is dead nothing is repeated', async () => {
  const { announcer, publish, counts } = setUp({ answers: [0], isDeadChannel: () => true });
  announcer.announce(EVENT);
  await jest.advanceTimersByTimeAsync(60 * SECOND);

  expect(publish).toHaveBeenCalledTimes(1);
  expect(counts).toContain('repeated given_up');
});

test('an account whose announcement may be lost is notified at once, again after a failure, and once for many', async () => {
  let failures = 2;
  const notify = () => (failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve());
  const { announcer, notified, counts } = setUp({ notify });
  for (let i = 0; i < 5; i++) announcer.notifyAccount('baton:{ann}:log', 'repeated');
  expect(notified.mock.calls).toEqual([['ann']]);

  await jest.advanceTimersByTimeAsync(60 * SECOND);
  // It tried twice in vain, succeeded once, and repeated once more for those that came meanwhile.
  expect(notified).toHaveBeenCalledTimes(4);
  expect(counts).toEqual(['notified repeated']);
});

test('after a command of unknown outcome an account is notified when it may have come late, and when very late', async () => {
  const { announcer, notified } = setUp();
  announcer.notifyAccount('baton:{ann}:log', 'unknown');
  expect(notified).not.toHaveBeenCalled();

  await jest.advanceTimersByTimeAsync(1 * SECOND);
  expect(notified).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(60 * SECOND);
  expect(notified).toHaveBeenCalledTimes(2);
});

test('once stopped it says nothing more', async () => {
  const { announcer, publish } = setUp({ answers: [0] });
  announcer.announce(EVENT);
  await jest.advanceTimersByTimeAsync(10);
  announcer.stop();
  await jest.advanceTimersByTimeAsync(60 * SECOND);

  expect(publish).toHaveBeenCalledTimes(1);
});
