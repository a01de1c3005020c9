import { makeIssuerClock } from '../../../services/sync/identity/key-sets/issuer-clock.ts';

/* The time at the issuer of tokens. */

const AT_MS = Date.parse('Thu, 26 Nov 2026 12:00:00 GMT');

function setUp() {
  let monotonicMs = 10_000;
  const clock = makeIssuerClock({ now: () => monotonicMs, wallNow: () => AT_MS + 3_600_000 });
  const answered = (date: string | null, { isKept = false, tookMs = 0 } = {}) =>
    clock.observe({ date, isKept, sentMs: monotonicMs - tookMs, readMs: monotonicMs });
  const pass = (ms: number) => void (monotonicMs += ms);
  return { clock, answered, pass };
}

test('it is that of this machine until the first answer, and then that of the answers, which goes on between them', () => {
  const { clock, answered, pass } = setUp();
  expect(clock.nowMs() - AT_MS).toBe(3_600_000);
  answered('Thu, 26 Nov 2026 12:00:00 GMT');
  // A second is named at its beginning, and on average half of it has passed.
  expect(clock.nowMs() - AT_MS).toBe(500);
  pass(60_000);
  expect(clock.nowMs() - AT_MS).toBe(60_500);
  answered('Thu, 26 Nov 2026 11:00:00 GMT', { tookMs: 1_000 });
  expect(clock.nowMs() - AT_MS).toBe(-3_600_000 + 500 + 500);
});

test.each([
  ['has no date', null, false],
  ['has a date that is none', 'yesterday', false],
  ['comes out of a cache', 'Thu, 26 Nov 2026 09:00:00 GMT', true],
])('an answer that %s says nothing', (_, date, isKept) => {
  const { clock, answered } = setUp();
  answered('Thu, 26 Nov 2026 12:00:00 GMT');
  answered(date, { isKept });
  expect(clock.nowMs() - AT_MS).toBe(500);
});
