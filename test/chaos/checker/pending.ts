import {
  byAccount,
  type DeviceHistory,
  type Fault,
  type History,
  type MessageSent,
  type Operation,
} from '../history.ts';
import { compareIds, hasBreak } from './positions.ts';
import type { Reset } from './resets.ts';

/** A message to all is delivered once by each of them. */
const deliveryOf = (messageId: string, by: string): string => `d${by} ${messageId}`;

/** Returns when one device first saw each thing: a message `m`, a delivery `d`, or the effect of any other operation, `o`. */
export function sightsOf({ frames }: DeviceHistory): Map<string, number> {
  const sights = new Map<string, number>();
  const saw = (key: string, at: number) => sights.set(key, Math.min(at, sights.get(key) ?? Infinity));
  for (const frame of frames) {
    if (frame.name === 'message') saw(`m${frame.messageId}`, frame.at);
    if (frame.name === 'clipboard' || frame.name === 'device:renamed') saw(`o${frame.operation}`, frame.at);
    if (frame.name === 'message:delivered') for (const id of frame.messageIds) saw(deliveryOf(id, frame.by), frame.at);
  }
  return sights;
}

/** The id under which an operation was seen, and when the first of all devices saw it. */
export interface Place {
  id: string;
  at: number;
}

/** Returns where operations stand in the log. After a store forgot one, it may happen again, but the first time counts. */
export function placesOf({ devices }: History): Map<string, Place> {
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

/** What befell an account, and the resets that one of its devices was told of. */
interface Told {
  faults: Fault[];
  resets: Reset[];
}

/**
 * Returns when a device with these resets got something from the log that stands after an operation's event. From then on the
 * stream had passed the event, and no later reset or loss can explain why it is missing. Infinity if the two need not stand in
 * one log.
 */
export function passedAt({ sentAt, answeredAt }: Operation, { faults, resets }: Told): number {
  const pass = resets[0]?.passes.find((one) => one.sentAt > answeredAt);
  return pass && !hasBreak(faults, sentAt, pass.at) ? pass.at : Infinity;
}

/**
 * A reset stands at the end of the log of its moment: it covers what came before, and nothing after. If nobody saw the event,
 * or a loss or another clock lies between the two, only the times tell. A reset does not cover an event that the stream had
 * already passed.
 */
export function isCovered(operation: Operation, place: Place | undefined, told: Told): boolean {
  const { sentAt } = operation;
  const { faults, resets } = told;
  const passed = passedAt(operation, told);
  return resets.some(({ frame }) => {
    if (frame.at < sentAt || frame.at > passed) return false;
    if (place === undefined || frame.id === null) return true;
    const isOneLog = !hasBreak(faults, sentAt, Math.max(frame.at, place.at));
    return !isOneLog || (compareIds(place.id, frame.id) ?? 0) <= 0;
  });
}

/** Something that a device must see. */
export interface Pending {
  device: string;
  /** It is kept in a mailbox, so that no reset excuses it. */
  isKept: boolean;
  /** The key of its sights and places. */
  key: string;
  what: string;
}

/**
 * Returns what an acknowledged operation makes pending, and for which devices. `accounts` holds the devices of each account,
 * `messages` the messages by their id.
 */
export function pendingBy(
  operation: Operation,
  accounts: Map<string, string[]>,
  messages: Map<string, MessageSent>,
): Pending[] {
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

export const namesByAccount = (history: History): Map<string, string[]> =>
  new Map([...byAccount(history)].map(([account, all]) => [account, all.map(({ device }) => device)]));

export const messagesById = ({ operations }: History): Map<string, MessageSent> =>
  new Map(
    operations.flatMap((one): [string, MessageSent][] =>
      one.kind === 'message' && one.messageId !== null ? [[one.messageId, one]] : [],
    ),
  );
