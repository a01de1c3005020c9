import { byAccount, type DeviceHistory, faultsOf, type Frame, type History, type Operation } from '../history.ts';
import { hasLoss } from './positions.ts';
import type { Violation } from './violation.ts';

/** Returns what an event says, whoever received it; null for frames that are not events of the log. */
function contentOf(frame: Frame): string | null {
  if (frame.id === null || frame.name === 'ping' || frame.name === 'ready') return null;
  if (frame.name === 'message') return `message ${frame.messageId}`;
  if (frame.name === 'message:delivered') return `delivered ${frame.by} ${frame.messageIds.join(' ')}`;
  if (frame.name === 'clipboard') return `clipboard ${frame.source} ${frame.operation}`;
  if (frame.name === 'device:renamed') return `renamed ${frame.renamed} ${frame.operation}`;
  if (frame.name === 'device:added') return `added ${frame.added}`;
  return frame.name;
}

/** Returns the things that may happen only once, each with the id under which it came. */
function thingsOf(frame: Frame): { thing: string; under: string }[] {
  const things: { thing: string; under: string }[] = [];
  if (frame.name === 'message') {
    if (frame.id !== null) things.push({ thing: `message ${frame.messageId}`, under: frame.id });
    if (frame.operation !== null) things.push({ thing: `operation ${frame.operation}`, under: frame.messageId });
  }
  if (
    (frame.name === 'clipboard' || frame.name === 'device:renamed') &&
    frame.operation !== null &&
    frame.id !== null
  ) {
    things.push({ thing: `operation ${frame.operation}`, under: frame.id });
  }
  if (frame.name === 'message:delivered' && frame.id !== null) {
    for (const id of frame.messageIds) things.push({ thing: deliveryOf(id, frame.by), under: frame.id });
  }
  return things;
}

const deliveryOf = (messageId: string, by: string): string => `delivery of ${messageId} to ${by}`;

/**
 * Returns when deliveries were first acknowledged. A frame may come long after its event was written, from a replica
 * that stood still.
 */
function acknowledgedAt(account: string, operations: Operation[]): Map<string, number> {
  const at = new Map<string, number>();
  for (const one of operations) {
    if (one.kind !== 'ack' || one.account !== account) continue;
    for (const id of one.messageIds) {
      const thing = deliveryOf(id, one.device);
      at.set(thing, Math.min(one.sentAt, at.get(thing) ?? one.sentAt));
    }
  }
  return at;
}

function checkAccount(account: string, devices: DeviceHistory[], history: History): Violation[] {
  const { operations } = history;
  const faults = faultsOf(history, account);
  const violations: Violation[] = [];
  const known = new Map<string, { under: string; at: number }>();
  const contents = new Map<string, string>();
  const byNumber = new Map(operations.map((one) => [one.number, one]));
  const acknowledged = acknowledgedAt(account, operations);
  for (const { device, frames } of devices) {
    for (const frame of frames) {
      const say = (says: string) => violations.push({ check: 'double', at: frame.at, account, device, says });
      const number = 'operation' in frame ? frame.operation : null;
      for (const { thing, under } of thingsOf(frame)) {
        const first = known.get(thing);
        if (first === undefined) known.set(thing, { under, at: frame.at });
        if (first === undefined || first.under === under) continue;
        const askedAt = byNumber.get(number ?? -1)?.sentAt ?? acknowledged.get(thing) ?? frame.at;
        const since = Math.min(first.at, frame.at, askedAt);
        // A store that forgot something may let it happen once more, between the first time and now or since it was
        // acknowledged.
        if (hasLoss(faults, since, Math.max(first.at, frame.at))) continue;
        say(`${thing} came under ${first.under} and under ${under}`);
      }
      const content = contentOf(frame);
      if (content === null || frame.id === null) continue;
      const other = contents.get(frame.id);
      if (other === undefined) contents.set(frame.id, content);
      else if (other !== content) say(`${frame.id} is "${other}" and "${content}"`);
    }
  }
  return violations;
}

/**
 * On one stream no event and no message comes twice, except messages that another `ready` makes pending again. Over two
 * streams they may repeat, under the same id.
 */
function checkStreams({ account, device, frames }: DeviceHistory): Violation[] {
  const violations: Violation[] = [];
  let connection = 0;
  let [ids, messages] = [new Set<string>(), new Set<string>()];
  for (const frame of frames) {
    const isOther = frame.connection !== connection;
    if (isOther || (frame.name === 'ready' && !frame.resumed)) ids = new Set();
    if (isOther || frame.name === 'ready') messages = new Set();
    connection = frame.connection;
    const id = contentOf(frame) === null ? null : frame.id;
    const messageId = frame.name === 'message' ? frame.messageId : null;
    if ((id !== null && ids.has(id)) || (messageId !== null && messages.has(messageId))) {
      const says = `${frame.name} ${id ?? messageId} came twice on connection ${connection}`;
      violations.push({ check: 'double', at: frame.at, account, device, says });
    }
    if (id !== null) ids.add(id);
    if (messageId !== null) messages.add(messageId);
  }
  return violations;
}

/** One thing has one id, one id is one thing, and nothing comes twice on one stream. */
export function checkDoubles(history: History): Violation[] {
  return [...byAccount(history)].flatMap(([account, devices]) => [
    ...checkAccount(account, devices, history),
    ...devices.flatMap(checkStreams),
  ]);
}
