import {
  byAccount,
  type Connection,
  type DeviceHistory,
  type Fault,
  faultsOf,
  type Frame,
  type History,
  lostUntil,
  type Operation,
} from '../history.ts';
import { compareIds, LATE_MS } from './positions.ts';
import type { Violation } from './violation.ts';

/** A log holds 256 events, some of which no known device saw. */
const LOG_EVENTS_SEEN = 200;

/** An event that a device got from the log. Its operation was sent after those of all earlier passes. */
export interface Pass {
  sentAt: number;
  at: number;
}

/** A `ready` that says that something was missed. */
export interface Reset {
  frame: Frame & { name: 'ready' };
  /** The position that was given up, if the device was told of it. */
  position: string | null;
  /** The stream had its `ready` before. It may have moved past events for others since it told its position. */
  isAnew: boolean;
  /** The passes of the device, before the reset and after. */
  passes: Pass[];
  isJustified: boolean;
  /** The loss behind the reset. */
  fault: Fault | null;
}

/** What all devices of an account together saw: id -> when it was first seen. */
type Seen = Map<string, number>;

/** What happened in an account. */
interface Account {
  faults: Fault[];
  seen: Seen;
  operations: Operation[];
}

/** Returns the last time up to a moment at which something may have been written to the log, seen or not. */
const lastWriteBy = ({ seen, operations }: Account, at: number): number =>
  Math.max(
    ...[...seen.values()].filter((seenAt) => seenAt < at),
    ...operations.filter(({ sentAt }) => sentAt <= at).map(({ answeredAt }) => Math.min(answeredAt, at)),
  );

function seenByAccount({ devices }: History): Map<string, Seen> {
  const accounts = new Map<string, Seen>();
  for (const { account, frames } of devices) {
    const seen = accounts.get(account) ?? new Map<string, number>();
    accounts.set(account, seen);
    for (const { id, at } of frames) if (id !== null && at < (seen.get(id) ?? Infinity)) seen.set(id, at);
  }
  return accounts;
}

/**
 * A loss explains a reset of a device when the position was issued within the loss, or before it if everything was lost. It
 * explains as many resets as it was losses. This takes the possible fault that ends first, so that the others remain for later
 * resets.
 */
function lossBehind(reset: Reset, account: Account, earlier: Reset[]): Fault | null {
  const { position, frame, isAnew } = reset;
  const { faults, seen } = account;
  const issuedAt = position === null ? undefined : seen.get(position);
  if (issuedAt === undefined) return null;
  const stoodAt = isAnew ? lastWriteBy(account, frame.at) : issuedAt;
  const explains = (fault: Fault) =>
    fault.loss !== null &&
    earlier.filter((one) => one.fault === fault).length < fault.loss.times &&
    fault.startedAt <= frame.at &&
    issuedAt <= lostUntil(fault) + LATE_MS &&
    stoodAt >= (fault.loss.since ?? Number.NEGATIVE_INFINITY);
  return faults.filter(explains).toSorted((a, b) => lostUntil(a) - lostUntil(b))[0] ?? null;
}

/** A log keeps 256 events. A device that was away for more is told so. */
function outlived({ position, frame }: Reset, seen: Seen): boolean {
  if (position === null || frame.id === null) return false;
  const { id: now } = frame;
  const missed = [...seen.keys()].filter(
    (id) => (compareIds(id, position) ?? 0) > 0 && (compareIds(id, now) ?? 0) <= 0,
  );
  return missed.length >= LOG_EVENTS_SEEN;
}

function resetsOf({ frames, connections }: DeviceHistory, account: Account): Reset[] {
  const resets: Reset[] = [];
  const byNumber = new Map<number, Connection>(connections.map((one) => [one.number, one]));
  const readySent = new Set<number>();
  const sentAts = new Map(account.operations.map(({ number, sentAt }) => [number, sentAt]));
  let held: string | null = null;
  const passes: Pass[] = [];
  for (const frame of frames) {
    if (frame.name === 'ready') {
      const isFirst = !readySent.has(frame.connection);
      readySent.add(frame.connection);
      if (!frame.resumed) {
        const position: string | null = isFirst ? (byNumber.get(frame.connection)?.lastEventId ?? null) : held;
        const reset: Reset = { frame, position, isAnew: !isFirst, passes, isJustified: false, fault: null };
        reset.fault = lossBehind(reset, account, resets);
        const isNew = isFirst && position === null && held === null && frame.reason === 'new';
        const isExpired = frame.reason === 'expired' && outlived(reset, account.seen);
        reset.isJustified = reset.fault !== null || isNew || isExpired;
        resets.push(reset);
      }
    }
    if (frame.id === null) continue;
    held = frame.id;
    const sentAt = 'operation' in frame ? sentAts.get(frame.operation ?? -1) : undefined;
    if (sentAt !== undefined && sentAt > (passes.at(-1)?.sentAt ?? 0)) passes.push({ sentAt, at: frame.at });
  }
  return resets;
}

/** Finds all resets, by device. */
export function findResets(history: History): Map<string, Reset[]> {
  const seen = seenByAccount(history);
  return new Map(
    [...byAccount(history)].flatMap(([account, devices]) => {
      const of = {
        faults: faultsOf(history, account),
        seen: seen.get(account) ?? new Map<string, number>(),
        operations: history.operations.filter((one) => one.account === account),
      };
      return devices.map((one): [string, Reset[]] => [one.device, resetsOf(one, of)]);
    }),
  );
}

/**
 * `resumed: false` needs a cause that really happened: a new client, a store that lost the base of the position, or more events
 * than a log holds. The death of a replica, a drain and a cut subscriber are no causes.
 */
export function checkResets({ devices }: History, resets: Map<string, Reset[]>): Violation[] {
  return devices.flatMap(({ account, device }) =>
    (resets.get(device) ?? [])
      .filter(({ isJustified }) => !isJustified)
      .map(({ frame, position }) => ({
        check: 'reset' as const,
        ...{ at: frame.at, account, device },
        says: `resumed:false (${frame.reason}) on connection ${frame.connection}, which stood at ${position}, without a cause`,
      })),
  );
}
