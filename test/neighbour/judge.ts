import type { Fault, Sample, SampleKind } from './account/account.ts';
import type { ScenarioFigures } from './attacker/scenario.ts';
import { CONNECTION_BYTES } from './caps.ts';
import type { MemoryFigures } from './measure/memory.ts';
import type { Phase } from './phases.ts';

/** The guarantee: how many times longer another account may make the median and the p99. */
const P50_TIMES = 3;
const P99_TIMES = 5;
/** Below this a figure says more about the machine than about Baton. */
const FLOOR_MS = 2;
/** The share of the middle one of three. */
const MIDDLE = 0.5;
/** With fewer figures there is no meaningful median, or no p99. */
const ENOUGH_FOR_P99 = 100;
const ENOUGH_FOR_P50 = 20;
/** The least share of what was due that a scenario must begin to count as not held up. */
const LEAST_BEGUN = 0.5;

/** A phase that is over. Times are Unix ms. */
export interface PastPhase extends Phase {
  from: number;
  to: number;
  attacks: Record<string, ScenarioFigures>;
}

export interface History {
  phases: PastPhase[];
  samples: Sample[];
  faults: Fault[];
  /** A pattern for each scenario, which matches an answer that shows that the attack gets through. */
  works: Record<string, string>;
  memory: { before: MemoryFigures; highest: MemoryFigures; byKind: Record<string, number> };
  caps: Readonly<Record<string, number>>;
}

export interface Verdict {
  /** One sentence each. */
  passed: string[];
  failed: string[];
}

/** Returns the value at a share of the sorted values. A value that never came counts as infinitely late. */
export function percentile(values: readonly (number | null)[], share: number): number {
  const sorted = values.map((ms) => ms ?? Number.POSITIVE_INFINITY).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns the samples that began in these phases. */
export const timesIn = (history: History, phases: readonly PastPhase[], kind: SampleKind): Sample[] =>
  history.samples.filter((one) => one.kind === kind && phases.some(({ from, to }) => one.at >= from && one.at < to));

/** Returns the time without the wait for a processor that others had. */
export const ownMs = ({ ms, waitedMs }: Sample): number | null => (ms === null ? null : Math.max(0, ms - waitedMs));

const show = (ms: number): string => (Number.isFinite(ms) ? `${ms.toFixed(1)} ms` : 'never');
const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;

interface Comparison {
  /** The samples of each stretch without the attacker. */
  baselines: readonly Sample[][];
  attacked: readonly Sample[];
  share: 0.5 | 0.99;
}

/**
 * Compares with the time without the attacker, as a factor and in words; null if too little was measured. The middle
 * one of the stretches without the attacker counts, because what an attack leaves behind must not become normal.
 */
function compare({ baselines, attacked, share }: Comparison): { holds: boolean; says: string } | null {
  const [most, enough] = share === 0.5 ? [P50_TIMES, ENOUGH_FOR_P50] : [P99_TIMES, ENOUGH_FOR_P99];
  if (attacked.length < enough) return null;
  const at = (samples: readonly Sample[]) => percentile(samples.map(ownMs), share);
  const each = baselines.filter(({ length }) => length > 0).map(at);
  const [normal, now] = [percentile(each, MIDDLE), at(attacked)];
  const ratio = now / Math.max(FLOOR_MS, normal);
  const says = `p${share * 100} ${show(now)}, without it ${show(normal)}, ${ratio.toFixed(1)} times (${most})`;
  return { holds: ratio <= most, says };
}

/** Returns each attack in words, with its phases. */
function attacksOf(phases: readonly PastPhase[]): [string, PastPhase[]][] {
  const of = (kind: Phase['kind']) => phases.filter((phase) => phase.kind === kind);
  return [
    ['while scenarios run in turn', of('alone')],
    ['while all run at once', of('together')],
    ['when it is over', of('baseline').slice(-1)],
    ...of('alone').map((phase): [string, PastPhase[]] => [`during ${phase.name}`, [phase]]),
  ];
}

function judgeTimes(history: History, add: (holds: boolean, says: string) => void): void {
  const { phases } = history;
  const quiet = phases.filter(({ kind }) => kind === 'baseline');
  const times = (kind: SampleKind, of: readonly PastPhase[], share: 0.5 | 0.99) =>
    compare({
      ...{ baselines: quiet.map((one) => timesIn(history, [one], kind)), share },
      attacked: timesIn(history, of, kind),
    });
  for (const [when, of] of attacksOf(phases)) {
    for (const kind of ['message', 'clipboard', 'devices'] as const) {
      for (const share of [0.5, 0.99] as const) {
        // The other kinds have few samples, so their p99 would be their maximum.
        if (kind !== 'message' && share === 0.99) continue;
        const found = times(kind, of, share);
        if (found !== null) add(found.holds, `${kind} ${when}: ${found.says}`);
      }
    }
  }
  const planted = times(
    'message',
    phases.filter(({ kind }) => kind === 'planted'),
    0.5,
  );
  add(planted?.holds === false, `a store that stands still is noticed: ${planted?.says ?? 'nothing was measured'}`);
}

/** The planted phase is not an attack, and no promise covers it. */
function judgeFaults({ phases, faults }: History, add: (holds: boolean, says: string) => void): void {
  const planted = phases.find(({ kind }) => kind === 'planted');
  const counts = new Map<string, number>();
  for (const { at, what } of faults) {
    if (planted !== undefined && at >= planted.from) continue;
    const during = phases.find(({ from, to }) => at >= from && at < to)?.name ?? 'a pause';
    const text = `${what} (during ${during})`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const shown = [...counts].slice(0, 12).map(([text, count]) => `${count} x ${text}`);
  add(counts.size === 0, ['the other account sees no refusal, no 5xx, no reset, no loss', ...shown].join('; '));
}

function judgeMemory({ memory, caps }: History, add: (holds: boolean, says: string) => void): void {
  const all = Object.values(caps).reduce((sum, bytes) => sum + bytes, 0);
  for (const [what, most] of [
    ['stored', all],
    ['connections', CONNECTION_BYTES],
  ] as const) {
    const grown = memory.highest[what] - memory.before[what];
    add(grown <= most, `the store's ${what} grew by ${mib(grown)}, at most ${mib(most)}`);
  }
  for (const [kind, bytes] of Object.entries(memory.byKind)) {
    const cap = caps[kind];
    const most = cap === undefined ? 'and no limit is known' : `at most ${mib(cap)}`;
    add(cap !== undefined && bytes <= cap, `${kind}: ${mib(bytes)}, ${most}`);
  }
}

/** An attack that does not get through proves nothing. */
function judgeAttacks({ phases, works }: History, add: (holds: boolean, says: string) => void): void {
  for (const { kind, attacks } of phases) {
    if (kind !== 'alone') continue;
    for (const [name, { answers }] of Object.entries(attacks)) {
      const pattern = new RegExp(works[name] ?? '');
      const through = Object.entries(answers).reduce((sum, [what, n]) => sum + (pattern.test(what) ? n : 0), 0);
      add(through > 0, `${name} gets through: ${through} times`);
    }
  }
}

/** Tells, for people, whether a scenario was slowed down itself. */
export const isHeldUp = ({ due, begun }: ScenarioFigures): boolean => begun < due * LEAST_BEGUN;

export function judge(history: History): Verdict {
  const verdict: Verdict = { passed: [], failed: [] };
  const add = (holds: boolean, says: string): void => void verdict[holds ? 'passed' : 'failed'].push(says);
  judgeTimes(history, add);
  judgeFaults(history, add);
  judgeMemory(history, add);
  judgeAttacks(history, add);
  return verdict;
}
