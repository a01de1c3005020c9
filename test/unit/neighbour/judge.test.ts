import type { Fault, Sample } from '../../neighbour/account/account.ts';
import { type History, judge, type PastPhase } from '../../neighbour/judge.ts';

const PHASE_MS = 20_000;
const EVERY_MS = 70;

const phase = (kind: PastPhase['kind'], name: string, number: number): PastPhase => ({
  ...{ kind, name, seconds: PHASE_MS / 1_000, from: number * PHASE_MS, to: (number + 1) * PHASE_MS },
  attacks: kind === 'alone' ? { [name]: { due: 10, begun: 10, answers: { '201': 10 } } } : {},
});

const PHASES = [
  phase('baseline', 'baseline', 0),
  phase('baseline', 'baseline', 5),
  phase('alone', 'messages', 1),
  phase('together', 'all at once', 2),
  phase('baseline', 'baseline', 3),
  phase('planted', 'a store that stands still', 4),
];
const PLANTED = 4;

const NOTHING = { stored: 0, connections: 0 };

type Times = (phaseNumber: number, i: number) => { ms: number | null; waitedMs?: number };

/** Every figure is 3 ms, except in the phase of the planted offender. */
const calm: Times = (number) => ({ ms: number === PLANTED ? 60 : 3 });

function historyOf(times: Times, rest: Partial<History> = {}): History {
  const samples: Sample[] = [];
  for (let at = 0; at < PHASES.length * PHASE_MS; at += EVERY_MS) {
    const took = { waitedMs: 0, ...times(Math.floor(at / PHASE_MS), samples.length) };
    samples.push({ kind: 'message', at, ...took });
  }
  return {
    ...{ phases: PHASES, samples, faults: [], works: { messages: '^201' }, caps: { mail: 1_000, log: 1_000 } },
    memory: { before: NOTHING, highest: { stored: 1_500, connections: 0 }, byKind: { mail: 900, log: 600 } },
    ...rest,
  };
}

const failedOf = (history: History): string => judge(history).failed.join('\n');

test('a neighbour that feels nothing passes every promise', () => {
  expect(failedOf(historyOf(calm))).toBe('');
});

test('a middle that is four times as long while one scenario runs is a breach, and the scenario is named', () => {
  const failed = failedOf(historyOf((number, i) => (number === 1 ? { ms: 12 } : calm(number, i))));
  expect(failed).toContain('message during messages: p50 12.0 ms, without it 3.0 ms, 4.0 times (3)');
});

test('two messages in a hundred that are late are a breach of the worst of a hundred alone', () => {
  const failed = failedOf(historyOf((number, i) => (number === 2 && i % 50 === 0 ? { ms: 40 } : calm(number, i))));
  expect(failed).toMatch(/^message while all run at once: p99 40\.0 ms.*$/);
});

test('a message that never comes counts as infinitely late', () => {
  const failed = failedOf(historyOf((number, i) => (number === 2 && i % 20 === 0 ? { ms: null } : calm(number, i))));
  expect(failed).toContain('p99 never');
});

test('what the machine did for others meanwhile is no breach', () => {
  const busy: Times = (number, i) => (number === 1 ? { ms: 100, waitedMs: 98 } : calm(number, i));
  expect(failedOf(historyOf(busy))).toBe('');
});

test('an attack whose work goes on when it is over is a breach, and does not become what is normal', () => {
  const failed = failedOf(historyOf((number, i) => (number === 3 ? { ms: 90 } : calm(number, i))));
  expect(failed).toContain('message when it is over: p50 90.0 ms, without it 3.0 ms, 30.0 times (3)');
});

test('a planted offender that goes unnoticed fails the run', () => {
  expect(failedOf(historyOf(() => ({ ms: 3 })))).toContain('a store that stands still is noticed');
});

test.each([
  ['a 5xx', 'POST /api/message: 503 store_unavailable'],
  ['a stream that is told that the store is away', 'event degraded {}'],
])('%s is a breach', (_, what) => {
  const faults: Fault[] = [{ at: PHASE_MS + 1, what }];
  expect(failedOf(historyOf(calm, { faults }))).toContain(`1 x ${what} (during messages)`);
});

test('what happens while the offender is planted is nobody’s fault', () => {
  const faults: Fault[] = [{ at: PLANTED * PHASE_MS + 1, what: 'event degraded {}' }];
  expect(failedOf(historyOf(calm, { faults }))).toBe('');
});

// Proves G31.
test('a kind of key beyond its limit, one without a limit, and a store that grew beyond all of them are breaches', () => {
  const highest = { stored: 5_000, connections: 100 * 1_048_576 };
  const memory = { before: NOTHING, highest, byKind: { mail: 1_001, mystery: 1 } };
  const failed = failedOf(historyOf(calm, { memory }));
  expect(failed).toContain("the store's stored grew by");
  expect(failed).toContain("the store's connections grew by");
  expect(failed).toContain('mail: ');
  expect(failed).toContain('mystery: 0.0 MiB, and no limit is known');
});

test('a scenario that never gets through proves nothing', () => {
  const refused = { due: 10, begun: 10, answers: { '429 rate_limited': 10 } };
  const phases = PHASES.map((one) => (one.kind === 'alone' ? { ...one, attacks: { messages: refused } } : one));
  expect(failedOf(historyOf(calm, { phases }))).toContain('messages gets through: 0 times');
});
