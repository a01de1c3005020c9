import { makePolls } from '../../../services/sync/signin/polling/polls.ts';

const LONG_MS = 25_000;
const never = new AbortController().signal;

/** Returns the result of a wait, and after how many milliseconds it came. */
async function timed(waiting: Promise<string>): Promise<[string, number]> {
  const before = performance.now();
  const wake = await waiting;
  return [wake, performance.now() - before];
}

test('a replica that stops hands its polls back at once', async () => {
  const polls = makePolls();
  const waiting = timed(polls.wait('a', LONG_MS, never));
  polls.drain();
  const [wake, tookMs] = await waiting;
  expect(wake).toBe('end');
  expect(tookMs).toBeLessThan(500);
});

test('a poll that comes after that waits a moment, so that its client does not ask as fast as it can', async () => {
  const polls = makePolls();
  polls.drain();
  const [wake, tookMs] = await timed(polls.wait('a', LONG_MS, never));
  expect(wake).toBe('end');
  expect(tookMs).toBeGreaterThan(900);
  expect(tookMs).toBeLessThan(LONG_MS / 2);
});

test('it is told of a decision all the same', async () => {
  const polls = makePolls();
  polls.drain();
  const waiting = polls.wait('a', LONG_MS, never);
  polls.wake('a', 'read');
  expect(await waiting).toBe('read');
});

test('a poll whose wakeup got lost checks again by itself', async () => {
  const [wake, tookMs] = await timed(makePolls().wait('a', LONG_MS, never));
  expect(wake).toBe('read');
  expect(tookMs).toBeLessThan(LONG_MS / 2);
});

test('so many of one address wait at a time, a customer of IPv6 is one, and so many of all', () => {
  const polls = makePolls({ most: 3, mostOfAddress: 2 });
  const leave = polls.enter('2001:db8::1');
  expect(leave).not.toBeNull();
  expect(polls.enter('2001:db8:0:ff::2')).not.toBeNull();
  expect(polls.enter('2001:db8::3')).toBeNull();
  expect(polls.enter('203.0.113.1')).not.toBeNull();
  expect(polls.enter('203.0.113.2')).toBeNull();
  leave?.();
  expect(polls.enter('203.0.113.2')).not.toBeNull();
});

test('a poll whose client is gone is not waited for', async () => {
  const polls = makePolls();
  const gone = new AbortController();
  const waiting = polls.wait('a', LONG_MS, gone.signal);
  gone.abort();
  expect(await waiting).toBe('end');
  expect(await polls.wait('b', LONG_MS, gone.signal)).toBe('end');
});
