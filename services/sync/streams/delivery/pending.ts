import type { PendingEvent } from './catch-up.ts';
import type { Stream } from '../stream/stream.ts';

interface PendingParts {
  messages: { unacknowledged(account: string, deviceId: string | null, position: string): AsyncIterable<string[]> };
  signin: { pendingOf(account: string, deviceId: string): Promise<string[]> };
  transfers: { pending(actor: { account: string; deviceId: string }, position: string): AsyncIterable<string[]> };
}

/** The first id in an event is that of what it is about. */
const idOf = (json: string): string => /_id":"([^"]+)"/.exec(json)?.[1] ?? '';

const eventsOf = (name: PendingEvent['name'], jsons: string[]): PendingEvent[] =>
  jsons.map((data) => ({ name, id: idOf(data), data }));

/**
 * What is pending for a stream beside the log: its device's unacknowledged messages, the transfers it did not accept, and the
 * new devices that wait for its decision.
 */
export const makePending = ({ messages, transfers, signin }: PendingParts) =>
  async function* pending({ account, caller: { deviceId } }: Stream, position: string): AsyncGenerator<PendingEvent[]> {
    for await (const page of messages.unacknowledged(account, deviceId, position)) yield eventsOf('message', page);
    if (deviceId === null) return;
    for await (const page of transfers.pending({ account, deviceId }, position))
      yield eventsOf('transfer:incoming', page);
    yield eventsOf('signin:requested', await signin.pendingOf(account, deviceId));
  };
