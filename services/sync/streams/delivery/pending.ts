import type { PendingEvent } from './catch-up.ts';
import type { Stream } from '../stream/stream.ts';

interface PendingParts {
  messages: { unacknowledged(account: string, deviceId: string | null, position: string): AsyncIterable<string[]> };
  signin: { pendingOf(account: string, deviceId: string): Promise<string[]> };
  transfers: { pending(actor: { account: string; deviceId: string }, position: string): AsyncIterable<string[]> };
}

/** Returns the first id in an event, which is that of its message, transfer or request. */
const idOf = (json: string): string => /_id":"([^"]+)"/.exec(json)?.[1] ?? '';

const eventsOf = (name: PendingEvent['name'], jsons: string[]): PendingEvent[] =>
  jsons.map((data) => ({ name, id: idOf(data), data }));

/**
 * Makes the reader of what is pending for a stream beside the log: unacknowledged messages of its device, transfers it
 * has not accepted, and new devices that wait for its decision.
 */
export const makePending = ({ messages, transfers, signin }: PendingParts) =>
  async function* pending({ account, caller: { deviceId } }: Stream, position: string): AsyncGenerator<PendingEvent[]> {
    for await (const page of messages.unacknowledged(account, deviceId, position)) yield eventsOf('message', page);
    if (deviceId === null) return;
    for await (const page of transfers.pending({ account, deviceId }, position))
      yield eventsOf('transfer:incoming', page);
    yield eventsOf('signin:requested', await signin.pendingOf(account, deviceId));
  };
