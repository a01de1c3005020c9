import type { Sample, SampleKind } from './account/account.ts';
import { type History, isHeldUp, ownMs, type PastPhase, percentile, timesIn } from './judge.ts';
import type { ReplicaFigures } from './measure/replica-figures.ts';
import type { SlowCommand } from './measure/slow-scripts.ts';

/** What the machine and the servers did in a phase. */
export interface PhaseFigures {
  /** Shares of one processor, by process. */
  processor: Record<string, { ran: number; waited: number }>;
  slow: SlowCommand[];
  /** The time that each command took of the store. */
  commands: Record<string, { calls: number; ms: number }>;
  replicas: ReplicaFigures[];
}

const SHOWN = 3;
const percent = (share: number): string => `${Math.round(share * 100)}`;
const short = (ms: number): string => (Number.isFinite(ms) ? ms.toFixed(1) : 'never');

function answersOf({ attacks, from, to }: PastPhase, { processor }: PhaseFigures): string {
  const all = Object.values(attacks).flatMap(({ answers }) => Object.values(answers));
  const count = all.reduce((sum, n) => sum + n, 0);
  if (count === 0) return '';
  const seconds = (to - from) / 1_000;
  const ran = (processor['replicas']?.ran ?? 0) + (processor['store']?.ran ?? 0);
  const each = ((ran * seconds * 1_000) / count).toFixed(1);
  const rate = `    ${(count / seconds).toFixed(0)} answers a second, each ${each} ms of a processor in replicas and store\n`;
  const texts = Object.entries(attacks)
    .map(([name, figures]) => {
      const answers = Object.entries(figures.answers)
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, 5)
        .map(([what, times]) => `${times} x ${what}`);
      const heldUp = isHeldUp(figures) ? ', HELD UP' : '';
      return `    ${name}: ${figures.begun} of ${figures.due} due${heldUp}; ${answers.join(', ')}`;
    })
    .join('\n');
  return rate + texts;
}

function busiestRoutes(replicas: readonly ReplicaFigures[]): string {
  const sums = new Map<string, number>();
  for (const { routes } of replicas) {
    for (const [route, seconds] of Object.entries(routes)) sums.set(route, (sums.get(route) ?? 0) + seconds);
  }
  return [...sums]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([route, seconds]) => `${route} ${seconds.toFixed(1)} s`)
    .join(', ');
}

function describeTimes(samples: Sample[], kind: SampleKind): string {
  if (samples.length === 0) return `no ${kind}`;
  const [own, raw] = [samples.map(ownMs), samples.map(({ ms }) => ms)];
  const at = (share: number) => `${short(percentile(own, share))}/${short(percentile(raw, share))}`;
  const tail = kind === 'message' ? `, p99 ${at(0.99)}, worst ${at(1)}` : '';
  return `${samples.length} x ${kind} p50 ${at(0.5)}${tail}`;
}

/** Describes one phase: what the other account measured, and what the servers did meanwhile. */
export function describePhase(history: History, phase: PastPhase, figures: PhaseFigures): string {
  const seconds = ((phase.to - phase.from) / 1_000).toFixed(0);
  const lines = [
    `${phase.name} (${phase.kind}, ${seconds} s), ms without waiting for a processor / as they were:`,
    `    ${(['message', 'clipboard', 'devices', 'relay'] as const).map((kind) => describeTimes(timesIn(history, [phase], kind), kind)).join('; ')}`,
    `    processor %, ran/waited: ${Object.entries(figures.processor)
      .map(([who, { ran, waited }]) => `${who} ${percent(ran)}/${percent(waited)}`)
      .join(', ')}`,
    `    replicas: ${figures.replicas.map(({ busy, stoodStillMs }) => `${percent(busy)} % busy, stood still ${stoodStillMs.toFixed(0)} ms`).join('; ')}; ${busiestRoutes(figures.replicas)}`,
  ];
  const costly = Object.entries(figures.commands)
    .toSorted(([, a], [, b]) => b.ms - a.ms)
    .slice(0, SHOWN)
    .map(([name, { calls, ms }]) => `${calls} x ${name} ${ms.toFixed(0)} ms`);
  lines.push(`    the store worked at: ${costly.join('; ')}`);
  if (figures.slow.length > 0) {
    const slow = figures.slow
      .slice(0, SHOWN)
      .map(
        ({ name, times: n, worstMs, sumMs }) =>
          `${name} ${n} x, worst ${worstMs.toFixed(0)}, in all ${sumMs.toFixed(0)} ms`,
      );
    lines.push(`    the store stood still for: ${slow.join('; ')}`);
  }
  const answers = answersOf(phase, figures);
  return [...lines, ...(answers === '' ? [] : [answers])].join('\n');
}

/**
 * The machine counts as busy if replicas and store wait for more than this share of one processor's time while they
 * have next to nothing to do.
 */
const BUSY_MACHINE = 0.2;

/**
 * Returns a note when the machine had something else to do, because queues then grow whatever the service does. Null
 * when it had not.
 */
export function describeMachine(phases: readonly { phase: PastPhase; figures: PhaseFigures }[]): string | null {
  const quiet = phases.filter(({ phase }) => phase.kind === 'baseline').map(({ figures }) => figures.processor);
  const waits = quiet.map((by) => (by['replicas']?.waited ?? 0) + (by['store']?.waited ?? 0));
  const worst = Math.max(0, ...waits);
  if (worst < BUSY_MACHINE) return null;
  return `THE MACHINE IS BUSY with something else: without the attacker replicas and store waited ${percent(worst)} % of a processor for one. A breach says little then.`;
}
