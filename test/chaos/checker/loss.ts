import {
  byAccount,
  type Checkpoint,
  type DeviceHistory,
  type Fault,
  faultsOf,
  type History,
  lostUntil,
  type Operation,
} from '../history.ts';
import { isCovered, messagesById, namesByAccount, pendingBy, passedAt, placesOf, sightsOf } from './pending.ts';
import { hasLoss } from './positions.ts';
import type { Reset } from './resets.ts';
import type { Violation } from './violation.ts';

/** After this much of a quiet moment an event must be there. */
const ARRIVES_WITHIN_MS = 10_000;

/** Returns the quiet moments in which a device was demonstrably served. Everything before each must have arrived by then. */
const duesOf = ({ connections }: DeviceHistory, checkpoints: Checkpoint[]): number[] =>
  checkpoints
    .map(({ probesDueAt }) => probesDueAt)
    .filter((dueAt) =>
      connections.some(({ openAt, closedAt }) => openAt !== null && openAt <= dueAt && (closedAt ?? Infinity) > dueAt),
    )
    .toSorted((a, b) => a - b);

/** Facts that may excuse a device. Nothing that happened after `dueAt` counts. */
interface Excuses {
  dueAt: number;
  faults: Fault[];
  resets: Reset[];
}

const excusesUntil = (dueAt: number, faults: Fault[], resets: Reset[]): Excuses => ({
  dueAt,
  faults: faults.filter(({ startedAt }) => startedAt <= dueAt),
  resets: resets.filter(({ frame, isJustified }) => isJustified && frame.at <= dueAt),
});

/**
 * Tells whether the store lost the operation. It may lose a part of its writes, as the README says, and a reset tells when it
 * lost all of them. When another server takes its place, it may instead lose a part of what it had.
 */
function isLost(operation: Operation, excuses: Excuses): boolean {
  const { sentAt, answeredAt } = operation;
  const { faults, resets } = excuses;
  const passed = passedAt(operation, excuses);
  return faults.some((fault) => {
    const { loss, startedAt } = fault;
    if (loss === null || sentAt > lostUntil(fault)) return false;
    const tail = loss.times > 1 ? startedAt : Infinity;
    if (answeredAt >= (loss.since ?? tail)) return true;
    return (
      loss.since === null && passed >= startedAt && resets.some(({ frame }) => frame.at >= Math.max(startedAt, sentAt))
    );
  });
}

/** What the check knows of one device. */
interface Served {
  sights: Map<string, number>;
  dues: number[];
  /** The time of the first `ready`. Earlier events do not count for this device. */
  since: number;
  resets: Reset[];
}

/**
 * Every acknowledged operation is seen, or covered by a reset with a cause, by the next quiet moment in which the device had a
 * stream. Nothing that happens later, to the store or to the device, is an excuse.
 */
export function checkLoss(history: History, resets: Map<string, Reset[]>): Violation[] {
  const { devices, operations, checkpoints } = history;
  const names = namesByAccount(history);
  const faultsBy = new Map([...names.keys()].map((account) => [account, faultsOf(history, account)]));
  const served = new Map<string, Served>(
    devices.map((one) => {
      const since = one.frames.find(({ name }) => name === 'ready')?.at ?? Infinity;
      const dues = duesOf(one, checkpoints);
      return [one.device, { sights: sightsOf(one), dues, since, resets: resets.get(one.device) ?? [] }];
    }),
  );
  const places = placesOf(history);
  const messages = messagesById(history);

  const violations: Violation[] = [];
  for (const operation of operations) {
    if (operation.outcome !== 'acknowledged') continue;
    const { number, account, sentAt, answeredAt: at } = operation;
    for (const { device, isKept, key, what } of pendingBy(operation, names, messages)) {
      const own = served.get(device);
      const dueAt = own?.dues.find((due) => due - ARRIVES_WITHIN_MS >= at);
      if (own === undefined || dueAt === undefined) continue;
      const seenAt = own.sights.get(key) ?? Infinity;
      if (seenAt <= dueAt || (!isKept && sentAt < own.since)) continue;
      const excuses = excusesUntil(dueAt, faultsBy.get(account) ?? [], own.resets);
      if (isLost(operation, excuses)) continue;
      if (!isKept && isCovered(operation, places.get(key), excuses)) continue;
      const fate = seenAt === Infinity ? 'never got' : `got only at ${Math.round(seenAt)}`;
      const of = `operation ${number}, sent at ${Math.round(sentAt)}, id ${places.get(key)?.id ?? 'unknown'}`;
      violations.push({
        check: 'loss',
        ...{ at, account, device },
        says: `${fate} ${what}, due at ${Math.round(dueAt)} (${of})`,
      });
    }
  }
  return violations;
}

/** A refused operation must not have happened. */
export function checkRefused(history: History): Violation[] {
  const { devices, operations } = history;
  const faultsBy = new Map([...byAccount(history).keys()].map((account) => [account, faultsOf(history, account)]));
  // A client asks again when an answer got lost. If the store forgot something in between, devices included, it refuses what it
  // had done before.
  const wasForgotten = ({ account, sentAt, answeredAt }: Operation) =>
    hasLoss(faultsBy.get(account) ?? [], sentAt, answeredAt);
  const refused = new Map(
    operations
      .filter((one) => one.outcome === 'refused' && !wasForgotten(one))
      .map((one): [number, Operation] => [one.number, one]),
  );
  const violations: Violation[] = [];
  for (const { account, device, frames } of devices) {
    for (const frame of frames) {
      const number = 'operation' in frame ? frame.operation : null;
      const operation = number === null ? undefined : refused.get(number);
      if (operation === undefined) continue;
      const says = `got ${frame.name} of operation ${number}, which was refused as ${operation.code}`;
      violations.push({ check: 'refused but delivered', at: frame.at, account, device, says });
    }
  }
  return violations;
}
