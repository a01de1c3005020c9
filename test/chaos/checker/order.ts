import { byAccount, type DeviceHistory, type Fault, faultsOf, type History } from '../history.ts';
import { compareIds, hasBreak, LATE_MS, msOf } from './positions.ts';
import type { Violation } from './violation.ts';

/*
 * The order relation. Positions of one log are ordered by their milliseconds, and two events of one log never share
 * them. So:
 * 1. On a device, ids at their first sight rise strictly (a ping may repeat the last one). A reset starts over at the
 *    id of its `ready`, and may be lower than what was seen before only when the store lost writes or had its clock set
 *    since then.
 * 2. In an account, no two ids share milliseconds, unless the store lost writes or had its clock set in between.
 * 3. What was acknowledged before another operation of the account was sent has the lower id, unless the store lost
 *    writes or had its clock set in between, or before the event was seen: a forgotten operation may happen once more,
 *    when a stopped replica goes on with a request that another one has answered meanwhile.
 */

function checkDevice({ account, device, frames }: DeviceHistory, faults: Fault[]): Violation[] {
  const violations: Violation[] = [];
  const seen = new Set<string>();
  let last: string | null = null;
  let lastAt = 0;
  for (const { id, name, at, connection } of frames) {
    if (id === null) continue;
    const step: number | null = last === null ? 1 : compareIds(id, last);
    const say = (says: string) =>
      violations.push({ check: 'order', at, account, device, says: `${says} (connection ${connection})` });
    if (name === 'ready') {
      const excused = hasBreak(faults, lastAt - LATE_MS, at);
      if (step !== null && step < 0 && !excused) say(`a reset went back from ${last} to ${id}`);
    } else if (seen.has(id)) {
      if (name !== 'ping') continue;
      if (step !== 0) say(`a ping says ${id} after ${last}`);
      continue;
    } else if (step === null || step <= 0) {
      // A ping may name an event that was for others. Nobody here saw that event, but its id is not lower.
      if (!(name === 'ping' && step === 0)) say(`${name} ${id} came after ${last}`);
    }
    seen.add(id);
    last = id;
    lastAt = at;
  }
  return violations;
}

function checkSharedMs(account: string, devices: DeviceHistory[], faults: Fault[]): Violation[] {
  /** The first sight of each id. */
  const byMs = new Map<number, Map<string, { at: number; device: string }>>();
  for (const { frames, device } of devices) {
    for (const { id, at } of frames) {
      if (id === null) continue;
      const ids = byMs.get(msOf(id)) ?? new Map<string, { at: number; device: string }>();
      byMs.set(msOf(id), ids);
      if (at < (ids.get(id)?.at ?? Infinity)) ids.set(id, { at, device });
    }
  }
  return [...byMs.values()].flatMap((ids) => {
    const bySight = [...ids].toSorted(([, a], [, b]) => a.at - b.at);
    return bySight.slice(1).flatMap(([id, { at, device }], i): Violation[] => {
      const [other, { at: otherAt }] = bySight[i] as (typeof bySight)[number];
      if (hasBreak(faults, otherAt - LATE_MS, at)) return [];
      return [{ check: 'order', at, account, device, says: `${id} and ${other} share their milliseconds` }];
    });
  });
}

interface Placed {
  number: number;
  sentAt: number;
  answeredAt: number;
  id: string;
  /** When the event was first seen. */
  seenAt: number;
}

/** Returns the acknowledged operations of an account whose event some device saw. */
function placedOperations({ operations }: History, account: string, devices: DeviceHistory[]): Placed[] {
  // An operation that a store forgot may have happened once more. The first sight counts.
  const ids = new Map<number, { id: string; at: number }>();
  for (const { frames } of devices) {
    for (const frame of frames) {
      if (!('operation' in frame) || frame.operation === null || frame.id === null) continue;
      const first = ids.get(frame.operation);
      if (first === undefined || frame.at < first.at) ids.set(frame.operation, { id: frame.id, at: frame.at });
    }
  }
  return operations.flatMap(({ number, sentAt, answeredAt, outcome, account: of }) => {
    const first = ids.get(number);
    if (of !== account || outcome !== 'acknowledged' || first === undefined) return [];
    return [{ number, sentAt, answeredAt, id: first.id, seenAt: first.at }];
  });
}

function checkCausality(account: string, placed: Placed[], faults: Fault[]): Violation[] {
  const violations: Violation[] = [];
  const bySent = placed.toSorted((a, b) => a.sentAt - b.sentAt);
  const byAnswer = placed.toSorted((a, b) => a.answeredAt - b.answeredAt);
  let highest: Placed | null = null;
  let next = 0;
  for (const operation of bySent) {
    for (; (byAnswer[next]?.answeredAt ?? Infinity) < operation.sentAt; next += 1) {
      const before = byAnswer[next] as Placed;
      if (highest === null || (compareIds(before.id, highest.id) ?? 0) > 0) highest = before;
    }
    if (highest === null) continue;
    const before: Placed = highest;
    const until = Math.max(operation.answeredAt, before.seenAt);
    const excused = hasBreak(faults, before.sentAt, until);
    if (excused) highest = null;
    if (excused || (compareIds(operation.id, before.id) ?? 1) > 0) continue;
    const says = `operation ${operation.number} (${operation.id}) was sent after ${before.number} (${before.id}) was acknowledged`;
    violations.push({ check: 'order', at: operation.sentAt, account, device: null, says });
  }
  return violations;
}

export function checkOrder(history: History): Violation[] {
  return [...byAccount(history)].flatMap(([account, devices]) => {
    const faults = faultsOf(history, account);
    return [
      ...devices.flatMap((one) => checkDevice(one, faults)),
      ...checkSharedMs(account, devices, faults),
      ...checkCausality(account, placedOperations(history, account, devices), faults),
    ];
  });
}
