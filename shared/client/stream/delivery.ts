import type { EventSourceMessage } from 'eventsource-parser';
import { makeRecent } from './recent.ts';
import { parseEvent, type StreamEvent } from './stream-event.ts';

const RECENT_IDS = 512;
const RECENT_MESSAGES = 1_024;
/** A position that can be sent back as a header and is short enough for the server. */
const POSITION = /^[\x21-\x7e]{1,128}$/;

/**
 * The events that a device has got, over all connections of its stream: the position to resume from, the last event ids, the
 * last messages, the newest presence. Its memory is bounded.
 */
export interface Delivery {
  /** Returns the last id received, including that of a ping; null: begin at the present end. */
  position(): string | null;
  /** Returns the event to hand out; null when there is none, when it is a duplicate to drop, or outdated presence. */
  take(frame: EventSourceMessage): StreamEvent | null;
}

interface Start {
  lastEventId: string | undefined;
  dropDuplicates: boolean;
  /** Called for each event that does not fit the contract. */
  onProblem: (error: unknown) => void;
}

export function makeDelivery({ lastEventId, dropDuplicates, onProblem }: Start): Delivery {
  let position = lastEventId !== undefined && POSITION.test(lastEventId) ? lastEventId : null;
  let presenceVersion = Number.NEGATIVE_INFINITY;
  const ids = makeRecent(RECENT_IDS);
  const messages = makeRecent(RECENT_MESSAGES);

  function isDuplicate(event: StreamEvent): boolean {
    // Their id is a position, which may equal that of an event, so they are never duplicates.
    if (event.name === 'ping' || event.name === 'ready') return false;
    const seenId = event.id !== null && !ids.add(event.id);
    const seenMessage = event.name === 'message' && !messages.add(event.data.message_id);
    return seenId || seenMessage;
  }

  function isOutdated(event: StreamEvent): boolean {
    if (event.name === 'ready') {
      // A store that lost its data counts from the beginning again, so the presence of `ready` replaces the held one.
      presenceVersion = event.data.presence.version;
    } else if (event.name === 'presence') {
      if (event.data.version < presenceVersion) return true;
      presenceVersion = event.data.version;
    }
    return false;
  }

  function understood(frame: EventSourceMessage): StreamEvent | null {
    try {
      return parseEvent(frame);
    } catch (error) {
      onProblem(error);
      return null;
    }
  }

  return {
    position: () => position,
    take(received) {
      const frame = received.id === undefined ? received : { ...received, id: ownCopy(received.id) };
      // This includes the position of a frame that cannot be parsed, because a request would bring the same frame again.
      if (frame.id === '') position = null;
      else if (frame.id !== undefined && POSITION.test(frame.id)) position = frame.id;
      const event = understood(frame);
      if (event === null || isOutdated(event)) return null;
      if (!isDuplicate(event)) return event;
      return dropDuplicates ? null : { ...event, duplicate: true };
    },
  };
}

/** Copies an id, which is a slice of a chunk. In V8 a slice keeps the whole string, so every chunk would stay in memory. */
const ownCopy = (id: string): string => ` ${id}`.slice(1);
