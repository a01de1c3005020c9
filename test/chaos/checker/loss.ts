import {
  byAccount,
  type DeviceHistory,
  type Fault,
  type History,
  type MessageSent,
  type Operation,
} from '../history.ts';
import { compareIds } from './positions.ts';
import type { Reset } from './resets.ts';
import type { Violation } from './violation.ts';

/** After this much of a quiet moment an event must be there. */
const ARRIVES_WITHIN_MS = 10_000;

/** What one device saw, by the number of the operation. */
interface Sights {
  messages: Set<string>;
  operations: Set<number>;
  delivered: Set<string>;
}

function sightsOf({ frames }: DeviceHistory): Sights {
  const sights: Sights = { messages: new Set(), operations: new Set(), delivered: new Set() };
  for (const frame of frames) {
    if (frame.name === 'message') sights.messages.add(frame.messageId);
    if ((frame.name === 'clipboard' || frame.name === 'device:renamed') && frame.operation !== null) {
      sights.operations.add(frame.operation);
    }
    if (frame.name === 'message:delivered') for (const id of frame.messageIds) sights.delivered.add(id);
  }
  return sights;
}

/** Until when a device was demonstrably served: the last quiet moment in which its stream was open. */
function servedUntil({ connections }: DeviceHistory, { checkpoints }: History): number {
  const open = checkpoints.filter(({ probesDueAt }) =>
    connections.some(
      ({ openAt, closedAt }) => openAt !== null && openAt <= probesDueAt && (closedAt ?? Infinity) > probesDueAt,
    ),
  );
  return Math.max(Number.NEGATIVE_INFINITY, ...open.map(({ probesDueAt }) => probesDueAt)) - ARRIVES_WITHIN_MS;
}

/** The ids under which operations were seen by whomever, to place them in the log. */
function idsOfOperations({ devices }: History): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { frames } of devices) {
    for (const frame of frames) {
      if (frame.id === null) continue;
      if (frame.name === 'clipboard' || frame.name === 'device:renamed') ids.set(`o${frame.operation}`, frame.id);
      if (frame.name === 'message:delivered') for (const one of frame.messageIds) ids.set(`d${one}`, frame.id);
    }
  }
  return ids;
}

/** The store lost what was written then: of a part of its writes the README says so, of all of them a reset tells. */
function isLost({ sentAt, answeredAt }: Operation, faults: Fault[], resets: Reset[]): boolean {
  return faults.some(({ loss, startedAt, endedAt }) => {
    if (loss === null || sentAt > endedAt) return false;
    if (loss.since !== null) return answeredAt >= loss.since;
    return resets.some(({ frame, isJustified }) => isJustified && frame.at >= Math.max(startedAt, sentAt));
  });
}

/** A reset stands at the end of the log of its moment: it covers what came before, and nothing after. */
function isCovered({ sentAt }: Operation, id: string | undefined, resets: Reset[], faults: Fault[]): boolean {
  return resets.some(({ frame, isJustified }) => {
    if (!isJustified || frame.at < sentAt) return false;
    if (id === undefined || frame.id === null) return true;
    const isOneLog = !faults.some((fault) => (fault.movedClock || fault.loss) && fault.endedAt >= sentAt);
    return !isOneLog || (compareIds(id, frame.id) ?? 0) <= 0;
  });
}

interface Owed {
  device: string;
  /** Kept in a mailbox, so that no reset excuses it. */
  isKept: boolean;
  wasSeen: (sights: Sights) => boolean;
  key: string;
  what: string;
}

function owedBy(operation: Operation, accounts: Map<string, string[]>, messages: Map<string, MessageSent>): Owed[] {
  const { kind, number, account } = operation;
  if (kind === 'message') {
    const { messageId } = operation;
    if (messageId === null) return [];
    const wasSeen = (sights: Sights) => sights.messages.has(messageId);
    const what = `message ${messageId}`;
    return operation.receivers.map((device) => ({ device, isKept: true, wasSeen, key: `m${messageId}`, what }));
  }
  if (kind === 'ack') {
    if (operation.acked !== operation.messageIds.length) return [];
    return operation.messageIds.flatMap((id) => {
      const sender = messages.get(id)?.device;
      const wasSeen = (sights: Sights) => sights.delivered.has(id);
      const what = `message:delivered of ${id}`;
      return sender === undefined ? [] : [{ device: sender, isKept: false, wasSeen, key: `d${id}`, what }];
    });
  }
  const wasSeen = (sights: Sights) => sights.operations.has(number);
  const everybody = accounts.get(account) ?? [];
  return everybody.map((device) => ({ device, isKept: false, wasSeen, key: `o${number}`, what: kind }));
}

/** Acknowledged implies seen, or covered by a reset with a cause. */
export function checkLoss(history: History, resets: Map<string, Reset[]>): Violation[] {
  const { devices, operations, faults } = history;
  const names = new Map([...byAccount(history)].map(([account, all]) => [account, all.map(({ device }) => device)]));
  const sights = new Map(devices.map((one) => [one.device, sightsOf(one)]));
  const until = new Map(devices.map((one) => [one.device, servedUntil(one, history)]));
  const since = new Map(
    devices.map((one) => [one.device, one.frames.find(({ name }) => name === 'ready')?.at ?? Infinity]),
  );
  const ids = idsOfOperations(history);
  const messages = new Map<string, MessageSent>();
  for (const one of operations) if (one.kind === 'message' && one.messageId !== null) messages.set(one.messageId, one);

  const violations: Violation[] = [];
  for (const operation of operations) {
    if (operation.outcome !== 'acknowledged') continue;
    for (const { device, isKept, wasSeen, key, what } of owedBy(operation, names, messages)) {
      const seen = sights.get(device);
      if (seen === undefined || wasSeen(seen)) continue;
      if (operation.answeredAt > (until.get(device) ?? Number.NEGATIVE_INFINITY)) continue;
      if (!isKept && operation.sentAt < (since.get(device) ?? Infinity)) continue;
      const ownResets = resets.get(device) ?? [];
      if (isLost(operation, faults, ownResets)) continue;
      if (!isKept && isCovered(operation, ids.get(key), ownResets, faults)) continue;
      violations.push({
        check: 'loss',
        ...{ at: operation.answeredAt, account: operation.account, device },
        says: `never got ${what} (operation ${operation.number}, sent at ${Math.round(operation.sentAt)}, id ${ids.get(key) ?? 'unknown'})`,
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
