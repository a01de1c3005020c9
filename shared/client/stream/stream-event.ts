import type { EventSourceMessage } from 'eventsource-parser';
import { EVENTS, type EventData, type EventName } from '../../contract/events.ts';

/** One event of the catalogue as it is handed to the application. */
export type StreamEventOf<N extends EventName> = {
  readonly name: N;
  readonly data: EventData<N>;
  /** Its position in the account's log; null where the catalogue gives none. */
  readonly id: string | null;
  /** Handed out before, under the same id or the same `message_id`. Only seen with `dropDuplicates: false`. */
  readonly duplicate: boolean;
};
export type StreamEvent = { [N in EventName]: StreamEventOf<N> }[EventName];

/**
 * The event in a frame; null for a name that this client does not know (a newer server's) and for data that is no
 * JSON object. Fields are not checked: the catalogue is the server's promise.
 */
export function parseEvent(frame: EventSourceMessage): StreamEvent | null {
  if (frame.event === undefined || !Object.hasOwn(EVENTS, frame.event)) return null;
  const data = parseJson(frame.data);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return null;
  return { name: frame.event, data, id: frame.id || null, duplicate: false } as StreamEvent;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a damaged frame: the ones behind it are worth more than it
  }
}
