import {
  byAccount,
  type Checkpoint,
  type DeviceHistory,
  type Fault,
  type History,
  lostUntil,
  type Snapshot,
  type Stall,
} from '../history.ts';
import { SHORTEST_STALL_MS } from '../stalls.ts';
import type { Violation } from './violation.ts';

/** A device that is away for no longer than this is never shown as offline: the grace is 5 s, less a margin. */
const GRACE_MS = 4_500;

/** How far back a cause may lie, and how long a device must have been there before it counts as there. */
const LOOK_BACK_MS = 20_000;

/** The two ends of a stream know of its end at about the same time. */
const SEEN_WITHIN_MS = 1_000;

const sorted = (names: string[]): string => names.toSorted().join(' ') || 'nobody';

/** Returns what a device believes at a moment. */
function lastSnapshot({ frames }: DeviceHistory, at: number): Snapshot | null {
  let snapshot: Snapshot | null = null;
  for (const frame of frames) {
    if (frame.at > at) break;
    if (frame.name === 'ready' || frame.name === 'presence') snapshot = frame.snapshot;
  }
  return snapshot;
}

const isOpen = ({ connections }: DeviceHistory, at: number): boolean =>
  connections.some(({ openAt, closedAt }) => openAt !== null && openAt <= at && (closedAt ?? Infinity) > at);

function checkQuiet(
  { at, number, presence, notOpen }: Checkpoint,
  accounts: Map<string, DeviceHistory[]>,
): Violation[] {
  const violations: Violation[] = [];
  for (const { account, online, wanted, stored } of presence) {
    const truth = sorted(wanted);
    if (sorted(online) !== truth) {
      const says = `checkpoint ${number}: a replica says ${sorted(online)}, connected are ${truth}; stored: ${stored}`;
      violations.push({ check: 'presence', at, account, device: null, says });
    }
    for (const device of accounts.get(account) ?? []) {
      if (!isOpen(device, at)) continue;
      const believed = sorted(lastSnapshot(device, at)?.online ?? []);
      if (believed === truth) continue;
      const says = `checkpoint ${number}: was last told ${believed}, connected are ${truth}`;
      violations.push({ check: 'presence', at, account, device: device.device, says });
    }
  }
  for (const device of notOpen) {
    const account = [...accounts].find(([, all]) => all.some((one) => one.device === device))?.[0] ?? '';
    violations.push({ check: 'not open', at, account, device, says: `checkpoint ${number}: has no open stream` });
  }
  return violations;
}

/**
 * Returns the earliest time at which a stream that was seen to end may have been over. The driver may have stood still just
 * before.
 */
function mayHaveEndedAt(closedAt: number, stalls: Stall[]): number {
  let at = closedAt;
  for (const { from, to } of stalls.toReversed()) if (from < at && to >= at - SHORTEST_STALL_MS) at = from;
  return at;
}

/** Returns the longest time without an open stream between two moments. */
function longestAway({ connections }: DeviceHistory, from: number, to: number, stalls: Stall[]): number {
  let cursor = from;
  let longest = 0;
  for (const { openAt, closedAt } of connections) {
    if (openAt === null || (closedAt ?? Infinity) < cursor) continue;
    if (openAt >= to) break;
    longest = Math.max(longest, openAt - cursor);
    cursor = Math.max(cursor, openAt, closedAt === null ? Infinity : mayHaveEndedAt(closedAt, stalls));
  }
  return Math.max(longest, to - cursor);
}

/**
 * Tells whether a fault that hides devices may hide this one. A fault of one replica may hide devices that had a stream there;
 * one of a part of the store may hide devices of its accounts, and all devices when the leases went with it. A lost tail hides
 * devices that came within it. It also cuts short the grace of devices that left within it, because that is lost too.
 */
function concerns(fault: Fault, { account, connections }: DeviceHistory, at: number): boolean {
  const { replica, accounts, loss, holdsLeases, movedClock, startedAt } = fault;
  const before = connections.filter((one) => one.startedAt <= at);
  if (replica !== null) return before.some((one) => one.replica === replica && (one.closedAt ?? Infinity) >= startedAt);
  if (holdsLeases === undefined) return true;
  const isOwn = accounts === null || accounts.includes(account);
  if (movedClock && isOwn) return true;
  if (loss === null || !(isOwn || holdsLeases)) return false;
  const { since } = loss;
  if (since === null) return true;
  const until = lostUntil(fault) + SEEN_WITHIN_MS;
  return before.some((one) => {
    const closedAt = one.closedAt ?? Infinity;
    const came = one.startedAt <= until && (one.openAt ?? closedAt) >= since;
    return came || (closedAt >= since && closedAt <= until);
  });
}

/** Nobody who is there, or was away for less than the grace, is shown as offline. That includes deploys and reloads. */
function checkFalseOffline(devices: DeviceHistory[], { faults, stalls }: History): Violation[] {
  const mayHide = (device: DeviceHistory, at: number): boolean =>
    faults.some(
      (fault) =>
        fault.hidesDevices &&
        fault.startedAt <= at &&
        (fault.servedFrom ?? fault.endedAt) + LOOK_BACK_MS >= at &&
        concerns(fault, device, at),
    );
  const violations: Violation[] = [];
  for (const { account, device, frames } of devices) {
    for (const frame of frames) {
      if (frame.name !== 'ready' && frame.name !== 'presence') continue;
      const { at, snapshot } = frame;
      for (const name of snapshot.offline) {
        const shown = devices.find((one) => one.device === name);
        if (shown === undefined || mayHide(shown, at)) continue;
        if (longestAway(shown, at - LOOK_BACK_MS, at, stalls) > GRACE_MS) continue;
        violations.push({ check: 'false offline', at, account, device, says: `was told that ${name} is offline` });
      }
    }
  }
  return violations;
}

/** After quiet the last snapshot is the truth, and no device was wrongly called absent before. */
export function checkPresence(history: History): Violation[] {
  const accounts = byAccount(history);
  return [
    ...history.checkpoints.flatMap((checkpoint) => checkQuiet(checkpoint, accounts)),
    ...[...accounts.values()].flatMap((devices) => checkFalseOffline(devices, history)),
  ];
}
