import {
  byAccount,
  type Checkpoint,
  type DeviceHistory,
  type Fault,
  type History,
  type MessageSent,
  type Operation,
} from '../history.ts';
import { compareIds, hasBreak } from './positions.ts';
import type { Reset } from './resets.ts';
import type { Violation } from './violation.ts';

/** After this much of a quiet moment an event must be there. */
const ARRIVES_WITHIN_MS = 10_000;

/** A message to all is delivered once to each of them. */
const deliveryOf = (messageId: string, by: string): string => `d${by} ${messageId}`;

/** When one device saw something first: a message `m`, a delivery `d`, or what else an operation did, `o`. */
function sightsOf({ frames }: DeviceHistory): Map<string, number> {
  const sights = new Map<string, number>();
  const saw = (key: string, at: number) => sights.set(key, Math.min(at, sights.get(key) ?? Infinity));
  for (const frame of frames) {
    if (frame.name === 'message') saw(`m${frame.messageId}`, frame.at);
    if (frame.name === 'clipboard' || frame.name === 'device:renamed') saw(`o${frame.operation}`, frame.at);
    if (frame.name === 'message:delivered') for (const id of frame.messageIds) saw(deliveryOf(id, frame.by), frame.at);
  }
  return sights;
}

/** The quiet moments in which a device was demonstrably served, by when everything had to be there. */
const duesOf = ({ connections }: DeviceHistory, checkpoints: Checkpoint[]): number[] =>
  checkpoints
    .map(({ probesDueAt }) => probesDueAt)
    .filter((dueAt) =>
      connections.some(({ openAt, closedAt }) => openAt !== null && openAt <= dueAt && (closedAt ?? Infinity) > dueAt),
    )
    .toSorted((a, b) => a - b);

/** An id under which an operation was seen, and when by the first of all devices. */
interface Place {
  id: string;
  at: number;
}

/** Where operations stand in the log: a store that forgot may have one happen again, but the first time counts. */
function placesOf({ devices }: History): Map<string, Place> {
  const places = new Map<string, Place>();
  const place = (key: string, id: string, at: number) => {
    if (at < (places.get(key)?.at ?? Infinity)) places.set(key, { id, at });
  };
  for (const { frames } of devices) {
    for (const frame of frames) {
      if (frame.id === null) continue;
      if (frame.name === 'clipboard' || frame.name === 'device:renamed')
        place(`o${frame.operation}`, frame.id, frame.at);
      if (frame.name === 'message:delivered')
        for (const one of frame.messageIds) place(deliveryOf(one, frame.by), frame.id, frame.at);
    }
  }
  return places;
}

/** What may excuse a device: nothing that happened after `dueAt`. */
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
 * The store lost what was written then: of a part of its writes the README says so, of all of them a reset tells. Of what
 * it had instead it may lose a part too, when another server takes its place.
 */
function isLost({ sentAt, answeredAt }: Operation, { faults, resets }: Excuses): boolean {
  return faults.some(({ loss, startedAt, endedAt }) => {
    if (loss === null || sentAt > endedAt) return false;
    const tail = loss.times > 1 ? startedAt : Infinity;
    if (answeredAt >= (loss.since ?? tail)) return true;
    return loss.since === null && resets.some(({ frame }) => frame.at >= Math.max(startedAt, sentAt));
  });
}

/**
 * A reset stands at the end of the log of its moment: it covers what came before, and nothing after. Where nobody saw
 * the event, or a loss or another clock lies between the two, only the times tell.
 */
function isCovered({ sentAt }: Operation, place: Place | undefined, { faults, resets }: Excuses): boolean {
  return resets.some(({ frame }) => {
    if (frame.at < sentAt) return false;
    if (place === undefined || frame.id === null) return true;
    const isOneLog = !hasBreak(faults, sentAt, Math.max(frame.at, place.at));
    return !isOneLog || (compareIds(place.id, frame.id) ?? 0) <= 0;
  });
}

interface Owed {
  device: string;
  /** Kept in a mailbox, so that no reset excuses it. */
  isKept: boolean;
  /** Of sights and places. */
  key: string;
  what: string;
}

function owedBy(operation: Operation, accounts: Map<string, string[]>, messages: Map<string, MessageSent>): Owed[] {
  const { kind, number, account } = operation;
  if (kind === 'message') {
    const { messageId, receivers } = operation;
    if (messageId === null) return [];
    return receivers.map((device) => ({ device, isKept: true, key: `m${messageId}`, what: `message ${messageId}` }));
  }
  if (kind === 'ack') {
    if (operation.acked !== operation.messageIds.length) return [];
    return operation.messageIds.flatMap((id) => {
      const sender = messages.get(id)?.device;
      if (sender === undefined) return [];
      const key = deliveryOf(id, operation.device);
      return [{ device: sender, isKept: false, key, what: `message:delivered of ${id}` }];
    });
  }
  const everybody = accounts.get(account) ?? [];
  return everybody.map((device) => ({ device, isKept: false, key: `o${number}`, what: kind }));
}

/** What the check knows of one device. */
interface Served {
  sights: Map<string, number>;
  dues: number[];
  /** First `ready`: events of before are none of its. */
  since: number;
  resets: Reset[];
}

/**
 * Acknowledged implies seen, or covered by a reset with a cause: by the first quiet moment after it in which the device
 * had a stream. What happens later, to the store or to the device, excuses nothing.
 */
export function checkLoss(history: History, resets: Map<string, Reset[]>): Violation[] {
  const { devices, operations, faults, checkpoints } = history;
  const names = new Map([...byAccount(history)].map(([account, all]) => [account, all.map(({ device }) => device)]));
  const served = new Map<string, Served>(
    devices.map((one) => {
      const since = one.frames.find(({ name }) => name === 'ready')?.at ?? Infinity;
      const dues = duesOf(one, checkpoints);
      return [one.device, { sights: sightsOf(one), dues, since, resets: resets.get(one.device) ?? [] }];
    }),
  );
  const places = placesOf(history);
  const messages = new Map<string, MessageSent>();
  for (const one of operations) if (one.kind === 'message' && one.messageId !== null) messages.set(one.messageId, one);

  const violations: Violation[] = [];
  for (const operation of operations) {
    if (operation.outcome !== 'acknowledged') continue;
    const { number, account, sentAt, answeredAt: at } = operation;
    for (const { device, isKept, key, what } of owedBy(operation, names, messages)) {
      const own = served.get(device);
      const dueAt = own?.dues.find((due) => due - ARRIVES_WITHIN_MS >= at);
      if (own === undefined || dueAt === undefined) continue;
      const seenAt = own.sights.get(key) ?? Infinity;
      if (seenAt <= dueAt || (!isKept && sentAt < own.since)) continue;
      const excuses = excusesUntil(dueAt, faults, own.resets);
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

/** What was refused must not have happened. */
export function checkRefused({ devices, operations, faults }: History): Violation[] {
  const losses = faults.filter(({ loss }) => loss !== null);
  // A client asks again when an answer got lost: a store that forgot in between, devices too, refuses what it had done.
  const wasForgotten = ({ sentAt, answeredAt }: Operation) =>
    losses.some(({ startedAt, endedAt }) => startedAt <= answeredAt && endedAt >= sentAt);
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
