import type { History, Plan } from '../history.ts';
import type { Violation } from './violation.ts';

interface Size {
  minutes: number;
  devices: number;
  eventsPerSecond: number;
  faultsOfAKind: number;
}

/** The minimum of a run of this many minutes. In ten minutes each kind happens about eight times. */
const SIZES: Size[] = [
  { minutes: 20, devices: 200, eventsPerSecond: 100, faultsOfAKind: 10 },
  { minutes: 10, devices: 200, eventsPerSecond: 100, faultsOfAKind: 5 },
];

/** The size of a short run, and of a run with only some of the faults. */
const SMALLEST: Size = { minutes: 0, devices: 2, eventsPerSecond: 1, faultsOfAKind: 0 };

const sizeOf = ({ minutes, isPart = false }: Plan): Size =>
  (isPart ? undefined : SIZES.find((one) => minutes >= one.minutes)) ?? SMALLEST;

/** Returns why a run is too small for its verdict to say much; null for a full run. */
export function whyNotFull(plan: Plan): string | null {
  if (sizeOf(plan) !== SMALLEST) return null;
  return plan.isPart === true ? `only ${plan.kinds.join(', ')}` : `${plan.minutes} minutes`;
}

/** Returns how many positions were seen by anybody, a second. */
function eventsPerSecond({ devices }: History): number {
  const events = new Set<string>();
  let [first, last] = [Infinity, 0];
  for (const { account, frames } of devices) {
    for (const { id, at } of frames) {
      if (id !== null) events.add(`${account} ${id}`);
      first = Math.min(first, at);
      last = Math.max(last, at);
    }
  }
  return events.size / Math.max(1, (last - first) / 1_000);
}

/** A run in which hardly anything happened finds nothing. The other checks mean something only if this one holds. */
export function checkSize(history: History): Violation[] {
  const { plan, devices, faults } = history;
  if (plan === null) return [];
  const wanted = sizeOf(plan);
  const short: string[] = [];
  if (devices.length < wanted.devices) short.push(`${devices.length} devices`);
  const rate = eventsPerSecond(history);
  if (rate < wanted.eventsPerSecond) short.push(`${rate.toFixed(1)} events a second`);
  for (const kind of plan.kinds) {
    const count = faults.filter((one) => one.kind === kind && one.broken === null).length;
    if (count < wanted.faultsOfAKind) short.push(`${count} times ${kind}`);
  }
  if (wanted !== SMALLEST) for (const kind of plan.skipped ?? []) short.push(`0 times ${kind}, which was skipped`);
  return short.map((says) => ({ check: 'size' as const, at: 0, account: '', device: null, says: `only ${says}` }));
}
