import { BatonClientError } from '../../../../shared/client/errors/baton-client-error.ts';
import { endWithSession } from '../../../../shared/client/sealing/guest-end.ts';
import type { GuestList } from '../../../../shared/client/sealing/guest-list.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { NOW } from '../sealed/people.ts';

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const GUEST = { device_id: 'guest-1', expires_at: NOW + 2 * MINUTE_MS, from: NOW };

/** Runs it against these answers of the list of sessions, the last of which repeats. Returns the ends that were set. */
async function endsBy(answers: readonly (number | null | Error)[], { aheadMs = 0, passes = 0 } = {}) {
  const [left, ends]: [(number | null | Error)[], number[]] = [[...answers], []];
  let now = NOW;
  const call = async () => {
    now += passes;
    const next = left.length > 1 ? left.shift() : left[0];
    if (next instanceof Error) throw next;
    const other = { device_id: 'laptop-1', expires_at: NOW + 7 * DAY_MS };
    return { body: { sessions: next === null ? [other] : [other, { device_id: 'guest-1', expires_at: next }] } };
  };
  const times = { serverNow: () => now + aheadMs, trustedNow: () => now };
  const calls = { caller: { call }, ...times } as unknown as SealingCalls;
  const guests = { endAt: async (_: string, until: number) => void ends.push(until) } as unknown as GuestList;
  const failed = await endWithSession(calls, guests, GUEST, {}).then(
    () => null,
    (error: unknown) => (error as BatonClientError).code,
  );
  return { ends, failed };
}

test('a guest that has not come yet, and a service that cannot be asked, are asked for again', async () => {
  const gone = new BatonClientError('network', 'No answer', { action: 'retry' });
  expect(await endsBy([null, gone, NOW + 5 * MINUTE_MS])).toEqual({ ends: [NOW + 5 * MINUTE_MS], failed: null });
});

test('a guest that does not come within its request changes nothing', async () => {
  expect(await endsBy([null], { passes: 2 * MINUTE_MS })).toEqual({ ends: [], failed: null });
});

test('a refusal that no repetition mends is thrown', async () => {
  const over = new BatonClientError('session_revoked', 'Signed out', { action: 'sign-in' });
  expect(await endsBy([over])).toEqual({ ends: [], failed: 'session_revoked' });
});

test('a session that the service says lasts longer than any does not prolong the keys beyond a day', async () => {
  expect(await endsBy([NOW + 30 * DAY_MS])).toEqual({ ends: [NOW + DAY_MS], failed: null });
});

test('the end counts from the time of the service, where its clock differs', async () => {
  const aheadMs = -30 * MINUTE_MS;
  expect(await endsBy([NOW + aheadMs + 5 * MINUTE_MS], { aheadMs })).toEqual({
    ends: [NOW + 5 * MINUTE_MS],
    failed: null,
  });
});
