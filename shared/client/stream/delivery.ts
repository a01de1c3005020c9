import type { EventSourceMessage } from 'eventsource-parser';
import { makeRecent } from './recent.ts';
import { parseEvent, type StreamEvent } from './stream-event.ts';

const RECENT_IDS = 512;
const RECENT_MESSAGES = 1_024;
/** What can be sent back as a header and is short enough for the server to take. */
const POSITION = /^[\x21-\x7e]{1,128}$/;

/**
 * What a device has been given, kept over all connections of its stream: the position to resume from, the last event
 * ids, the last messages, the newest presence. Its memory is bounded.
 */
export interface Delivery {
  /** The last id received, also of a ping; null: begin at the present end. */
  position(): string | null;
  /** The event to hand out; null when there is none, when it is a duplicate to drop, or outdated presence. */
  take(frame: EventSourceMessage): StreamEvent | null;
}

interface Start {
  lastEventId: string | undefined;
  dropDuplicates: boolean;
  /** Told of each event that was not what the contract says. */
  onProblem: (error: unknown) => void;
}

export function makeDelivery({ lastEventId, dropDuplicates, onProblem }: Start): Delivery {
  let position = lastEventId !== undefined && POSITION.test(lastEventId) ? lastEventId : null;
  let presenceVersion = Number.NEGATIVE_INFINITY;
  const ids = makeRecent(RECENT_IDS);
  const messages = makeRecent(RECENT_MESSAGES);

  function isDuplicate(event: StreamEvent): boolean {
    // Their id is a position, and may well be that of an event: they are never duplicates of it.
    if (event.name === 'ping' || event.name === 'ready') return false;
    const seenId = event.id !== null && !ids.add(event.id);
    const seenMessage = event.name === 'message' && !messages.add(event.data.message_id);
    return seenId || seenMessage;
  }

  function isOutdated(event: StreamEvent): boolean {
    if (event.name === 'ready') {
      // A store that lost its data counts from anew: what `ready` says replaces what is held.
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
      // Also of a frame that is not understood: asking for it again would only bring it again.
      if (frame.id === '') position = null;
      else if (frame.id !== undefined && POSITION.test(frame.id)) position = frame.id;
      const event = understood(frame);
      if (event === null || isOutdated(event)) return null;
      if (!isDuplicate(event)) return event;
      return dropDuplicates ? null : { ...event, duplicate: true };
    },
  };
}

/** The id was cut out of a chunk, and V8 lets a cut keep the whole: remembering it would hold every chunk in memory. */
const ownCopy = (id: string): string => ` ${id}`.slice(1);
