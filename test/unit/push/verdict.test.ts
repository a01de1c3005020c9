import { verdictOn, verdictOnLate } from '../../../services/sync/push/delivery/verdict.ts';
import type { Taken } from '../../../services/sync/push/store.ts';
import { targetOf } from './sending.ts';

const [NOW_MS, DAY_MS] = [1_800_000_000_000, 86_400_000];
const NOT_HERE = { outcome: 'not_here', reason: 'key_unknown' } as const;
const SUSPENDED = { outcome: 'suspend', reason: 'key_unknown' };
const EXPIRED = { outcome: 'dropped', reason: 'expired' };

/** Makes a push that came ten minutes ago and was tried this often. The last `notHere` tries were left to others. */
function takenAfter(attempts: number, notHere: number, lastOkAtMs: number | null = null): Taken {
  const target = targetOf({ endpoint: 'https://quick.example/up', keys: { p256dh: '', auth: '' } });
  return {
    registration: {
      ...{ id: 'id', hash: 'hash', fence: String(NOW_MS - DAY_MS), createdAtMs: 0, lastOkAtMs, isSuspended: false },
      ...{ preview: 'none', target },
    },
    ...{ newest: 'n', sinceMs: NOW_MS - 600_000, attempts, notHere },
    ...{ nowMs: NOW_MS, dueAtMs: NOW_MS, count: 1, id: 'n', message: '' },
  };
}

describe('a push that this replica has no settings for', () => {
  test.each([
    ['the first time', 0, 0],
    ['after eight tries, of which seven were left to others', 8, 7],
    ['after a long outage of the push service', 30, 0],
  ])('is left to the others %s', (_, attempts, notHere) => {
    expect(verdictOn(NOT_HERE, takenAfter(attempts, notHere), DAY_MS)).toEqual({
      outcome: 'not_here',
      inMs: expect.any(Number),
      reason: 'key_unknown',
    });
  });

  test('suspends its registration when eight tries in a row were left to others', () => {
    expect(verdictOn(NOT_HERE, takenAfter(8, 8), DAY_MS)).toEqual(SUSPENDED);
  });

  test('suspends it after five, this one included, when there is no time for another try', () => {
    expect(verdictOn(NOT_HERE, takenAfter(6, 4), 1_000)).toEqual(SUSPENDED);
    expect(verdictOn(NOT_HERE, takenAfter(6, 3), 1_000)).toEqual(EXPIRED);
  });

  test('suspends it also when its time ended before another try', () => {
    expect(verdictOnLate(takenAfter(5, 5))).toEqual({ outcome: 'suspend', reason: 'expired' });
    expect(verdictOnLate(takenAfter(5, 4))).toEqual(EXPIRED);
    expect(verdictOnLate(takenAfter(30, 0))).toEqual(EXPIRED);
  });

  test('does not suspend it when another push was delivered since this one came', () => {
    const sendable = takenAfter(8, 8, NOW_MS - 60_000);
    expect(verdictOn(NOT_HERE, sendable, DAY_MS)).toMatchObject({ outcome: 'not_here' });
    expect(verdictOn(NOT_HERE, sendable, 1_000)).toEqual(EXPIRED);
    expect(verdictOnLate(sendable)).toEqual(EXPIRED);
    expect(verdictOn(NOT_HERE, takenAfter(8, 8, NOW_MS - 700_000), DAY_MS)).toEqual(SUSPENDED);
  });
});

test('a push that the push service postpones is given up when there is no time for another try', () => {
  const answer = { outcome: 'retry', afterMs: 60_000, reason: 'status 429' } as const;
  expect(verdictOn(answer, takenAfter(0, 7), DAY_MS)).toMatchObject({ outcome: 'retry', reason: 'status 429' });
  expect(verdictOn(answer, takenAfter(0, 7), 60_000)).toEqual(EXPIRED);
});

test('a registration that was gone before it was renewed is tried again', () => {
  const gone = (agoMs: number) => ({ outcome: 'gone', asOfMs: NOW_MS - agoMs }) as const;
  expect(verdictOn(gone(2 * DAY_MS), takenAfter(0, 0), DAY_MS)).toMatchObject({
    outcome: 'retry',
    reason: 'renewed_since',
  });
  expect(verdictOn(gone(0), takenAfter(0, 0), DAY_MS)).toMatchObject({ outcome: 'gone' });
});
