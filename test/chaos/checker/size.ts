import type { History } from '../history.ts';
import type { Violation } from './violation.ts';

/** From this length on a run is a full one. */
const FULL_MINUTES = 20;
const FULL = { devices: 200, eventsPerSecond: 100, faultsOfAKind: 10 };

/** Of a short one. */
const SHORT = { devices: 2, eventsPerSecond: 1, faultsOfAKind: 0 };

/** Positions that somebody saw, a second. */
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

/** A run in which hardly anything happened finds nothing: what the other checks say is worth something when this holds. */
export function checkSize(history: History): Violation[] {
  const { plan, devices, faults } = history;
  if (plan === null) return [];
  const wanted = plan.minutes >= FULL_MINUTES ? FULL : SHORT;
  const short: string[] = [];
  if (devices.length < wanted.devices) short.push(`${devices.length} devices`);
  const rate = eventsPerSecond(history);
  if (rate < wanted.eventsPerSecond) short.push(`${rate.toFixed(1)} events a second`);
  for (const kind of plan.kinds) {
    const count = faults.filter((one) => one.kind === kind && one.broken === null).length;
    if (count < wanted.faultsOfAKind) short.push(`${count} times ${kind}`);
  }
  return short.map((says) => ({ check: 'size' as const, at: 0, account: '', device: null, says: `only ${says}` }));
}
