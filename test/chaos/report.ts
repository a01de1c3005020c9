import { whyNotFull } from './checker/size.ts';
import type { Violation } from './checker/violation.ts';
import { type DeviceHistory, type Frame, type History, UNPLANNED } from './history.ts';

const SHOWN_PER_CHECK = 8;
const FRAMES_AROUND = 6;
const FAULTS_WITHIN_MS = 40_000;

/** Returns `a 3, b 1`: how often each occurs, most frequent first. */
function tally(names: Iterable<string>): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} ${count}`);
  return lines.join(', ') || 'none';
}

function describeFrame(frame: Frame): string {
  const { at, connection, id, name, ...rest } = frame;
  return `${Math.round(at)} #${connection} ${name} ${id ?? '-'} ${JSON.stringify(rest)}`;
}

/** Returns what the device received around that moment, its connections, and the faults in reach. */
function contextOf({ at, device }: Violation, history: History): string[] {
  const near = history.faults
    .filter(({ startedAt, endedAt }) => startedAt <= at && endedAt >= at - FAULTS_WITHIN_MS)
    .map(
      ({ kind, target, startedAt, endedAt }) =>
        `fault ${kind} of ${target}, ${Math.round(startedAt)} to ${Math.round(endedAt)}`,
    );
  const own: DeviceHistory | undefined = history.devices.find((one) => one.device === device);
  if (own === undefined) return near;
  const frames = own.frames.filter(({ name }) => name !== 'ping');
  const after = frames.findIndex((frame) => frame.at >= at);
  const middle = after < 0 ? frames.length : after;
  const connections = own.connections
    .filter(
      ({ startedAt, closedAt }) =>
        startedAt <= at + FAULTS_WITHIN_MS / 4 && (closedAt ?? Infinity) >= at - FAULTS_WITHIN_MS / 4,
    )
    .map((one) => `connection ${JSON.stringify(one)}`);
  return [
    ...near,
    ...connections,
    ...frames.slice(Math.max(0, middle - FRAMES_AROUND), middle + FRAMES_AROUND).map(describeFrame),
  ];
}

/** Returns a line with the causes of each family of counters. */
function describeRepairs(repairs: Record<string, number>): string[] {
  const lines = new Map<string, string[]>();
  for (const [name, count] of Object.entries(repairs).toSorted(([, a], [, b]) => b - a)) {
    const [family = '', ...causes] = name.split(' ');
    lines.set(family, [...(lines.get(family) ?? []), [...causes, count].join(' ')]);
  }
  return [...lines].map(([family, counts]) => `repairs, ${family}: ${counts.join(', ')}`);
}

export function describeCounts({ devices, operations, faults, checkpoints, stalls, repairs = {} }: History): string {
  const frames = devices.flatMap((one) => one.frames);
  const events = new Set(
    devices.flatMap(({ account, frames: own }) => own.flatMap(({ id }) => (id === null ? [] : [`${account} ${id}`]))),
  );
  const stood = stalls.map(({ from, to }) => to - from);
  const inSeconds = (ms: number): string => (ms / 1_000).toFixed(1);
  return [
    `devices ${devices.length}, connections ${devices.reduce((sum, one) => sum + one.connections.length, 0)}`,
    `operations: ${tally(operations.map(({ kind, outcome }) => `${kind} ${outcome}`))}`,
    `not acknowledged: ${tally(operations.flatMap(({ code }) => (code === null ? [] : [code])))}`,
    `positions seen: ${events.size}`,
    `frames: ${tally(frames.map(({ name }) => name))}`,
    `ready: ${tally(frames.flatMap((frame) => (frame.name === 'ready' ? [frame.resumed ? 'resumed' : String(frame.reason)] : [])))}`,
    `ends of connections: ${tally(devices.flatMap((one) => one.connections.map(({ cause }) => cause ?? 'open')))}`,
    `faults: ${tally(faults.map(({ kind }) => kind))}`,
    ...describeRepairs(repairs),
    `quiet moments ${checkpoints.length}, failovers that nobody planned ${faults.filter(({ kind }) => kind === UNPLANNED).length}`,
    `the driver stood still for ${inSeconds(stood.reduce((sum, ms) => sum + ms, 0))} s in all, ${inSeconds(Math.max(0, ...stood))} s at a time`,
  ].join('\n');
}

/** Returns the verdicts, and for each broken promise the first few cases with what was going on. */
export function describeVerdict(verdict: Record<string, Violation[]>, history: History): string {
  const lines: string[] = [];
  for (const [promise, violations] of Object.entries(verdict)) {
    lines.push(
      `${violations.length === 0 ? 'ok  ' : 'FAIL'}  ${promise}${violations.length === 0 ? '' : `: ${violations.length}`}`,
    );
    const first = violations.toSorted((a, b) => a.at - b.at).slice(0, SHOWN_PER_CHECK);
    for (const [index, violation] of first.entries()) {
      const { at, account, device, says } = violation;
      lines.push(`      at ${Math.round(at)} ${account} ${device ?? ''}: ${says}`);
      // A violation in one account comes up at each of its devices. One is enough.
      if (first.findIndex((one) => one.account === account) !== index) continue;
      lines.push(...contextOf(violation, history).map((line) => `          ${line}`));
    }
  }
  const whyNot = history.plan && whyNotFull(history.plan);
  if (whyNot !== null) lines.push(`not a full run: ${whyNot}`);
  const failed = Object.values(verdict).filter(({ length }) => length > 0).length;
  lines.push(`${Object.keys(verdict).length - failed} passed, ${failed} failed`);
  return lines.join('\n');
}
