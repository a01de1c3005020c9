import { scanned } from '../../../services/cli/commands/invite.ts';
import type { BatonClient } from '../../../shared/client/index.ts';

const { jest } = import.meta;
beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const INVITE_MS = 120_000;

type Told = { name: string; data: unknown };

/** A client that hands out these events, and counts who listens. */
function makeClient() {
  const listeners = new Set<(event: Told) => void>();
  const on = (_: string, listener: (event: Told) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const tell = (event: Told) => listeners.forEach((listener) => listener(event));
  return { baton: { on } as unknown as BatonClient, tell, listeners };
}

test('an interrupted invite leaves no timer behind, which would keep the command running', async () => {
  const [interrupted, { baton, listeners }] = [new AbortController(), makeClient()];
  const waiting = scanned(baton, interrupted.signal);
  interrupted.abort(new Error('Interrupted.'));
  await expect(waiting).rejects.toThrow('Interrupted.');
  expect([jest.getTimerCount(), listeners.size]).toEqual([0, 0]);
});

test('an invite is waited for as long as it lives, although the clock of this machine is ahead', async () => {
  const ends: unknown[] = [];
  const waiting = scanned(makeClient().baton, new AbortController().signal);
  waiting.catch((error: unknown) => ends.push(error));
  jest.setSystemTime(Date.now() + 10 * INVITE_MS);
  await jest.advanceTimersByTimeAsync(INVITE_MS - 1_000);
  expect(ends).toEqual([]);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(ends).toMatchObject([{ code: 'login_expired' }]);
});

test('the request of the device that scans an invite ends the wait', async () => {
  const { baton, tell, listeners } = makeClient();
  const waiting = scanned(baton, new AbortController().signal);
  tell({ name: 'presence', data: {} });
  const request = { request_id: 'request-1', approval_code: 'code-1' };
  tell({ name: 'signin:requested', data: request });
  expect(await waiting).toEqual(request);
  expect([jest.getTimerCount(), listeners.size]).toEqual([0, 0]);
});
