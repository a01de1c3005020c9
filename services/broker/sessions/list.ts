import { BROKER_LIMITS, type BrokerSession, type BrokerSessions } from '../../../shared/contract/broker.ts';
import type { SessionStore } from './store.ts';

/** A place in the order of a listing: by end of the session, then by id. */
interface Place {
  endsAtMs: number;
  sessionId: string;
}

const START: Place = { endsAtMs: 0, sessionId: '' };

function placeOf(cursor: string | null): Place {
  const [endsAtMs, sessionId] = cursor?.split('.') ?? [];
  return endsAtMs === undefined || sessionId === undefined ? START : { endsAtMs: Number(endsAtMs), sessionId };
}

const isAfter = (place: Place, other: Place): boolean =>
  place.endsAtMs > other.endsAtMs || (place.endsAtMs === other.endsAtMs && place.sessionId > other.sessionId);

/**
 * Lists live sessions, up to a hundred at a time; `next_cursor` is where the next ones are. Index entries of sessions
 * that are over are passed by, so that a page is only short at the end.
 */
export function makeSessionList({ store }: { store: SessionStore }) {
  return async (app: string, subject: string, cursor: string | null): Promise<BrokerSessions> => {
    const sessions: BrokerSession[] = [];
    let at = placeOf(cursor);
    let count: number = BROKER_LIMITS.sessionsPerPage;
    while (true) {
      const from = at;
      const { nowMs, places } = await store.page(app, subject, { fromMs: from.endsAtMs, count });
      const further = places.filter((place) => isAfter(place, from));
      const read = await store.read(
        further.map(({ sessionId }) => sessionId),
        nowMs,
      );
      for (const [i, place] of further.entries()) {
        const session = read[i] ?? null;
        if (session !== null && sessions.length === BROKER_LIMITS.sessionsPerPage) {
          return { sessions, next_cursor: `${at.endsAtMs}.${at.sessionId}` };
        }
        if (session !== null) sessions.push(session);
        at = place;
      }
      if (places.length < count) return { sessions, next_cursor: null };
      // All of them end in the one millisecond from which we went on: look further.
      if (further.length === 0) count *= 2;
    }
  };
}

export type SessionList = ReturnType<typeof makeSessionList>;
