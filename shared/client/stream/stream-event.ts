import type { EventSourceMessage } from 'eventsource-parser';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { formOf } from '../../contract/forms.ts';
import { misfit } from '../http/misfit.ts';
import { parseJson } from '../http/parse-json.ts';
import { EVENTS, type EventData, type EventName } from '../../contract/events.ts';

/** One event of the catalogue as the application gets it. */
export type StreamEventOf<N extends EventName> = {
  readonly name: N;
  readonly data: EventData<N>;
  /** Its position in the account's log; null if the catalogue gives none. */
  readonly id: string | null;
  /** True: handed out before, under the same id or the same `message_id`. Occurs only with `dropDuplicates: false`. */
  readonly duplicate: boolean;
};
export type StreamEvent = { [N in EventName]: StreamEventOf<N> }[EventName];

/**
 * Parses the event in a frame; null for a name that this client does not know (a newer server's). Throws for data that does
 * not fit the catalogue, because values of it become paths and names.
 */
export function parseEvent(frame: EventSourceMessage): StreamEvent | null {
  if (frame.event === undefined || !Object.hasOwn(EVENTS, frame.event)) return null;
  const data = parseJson(frame.data);
  const flaw = misfit(formOf(EVENTS[frame.event as EventName].data), data);
  if (flaw !== null) {
    const message = `Event ${frame.event} is not what the contract says at ${flaw}`;
    throw new BatonClientError('unexpected_answer', message);
  }
  return { name: frame.event, data, id: frame.id || null, duplicate: false } as StreamEvent;
}
