import { BROKER_LIMITS, type BrokerSession, type BrokerSessions } from '../../../shared/contract/modules/broker.ts';
import type { SessionStore } from './store.ts';

/** A position in the order of a listing: by end of the session, then by id. */
interface Position {
  endsAtMs: number;
  sessionId: string;
}

const START: Position = { endsAtMs: 0, sessionId: '' };

function positionOf(cursor: string | null): Position {
  const [endsAtMs, sessionId] = cursor?.split('.') ?? [];
  return endsAtMs === undefined || sessionId === undefined ? START : { endsAtMs: Number(endsAtMs), sessionId };
}

const isAfter = (position: Position, other: Position): boolean =>
  position.endsAtMs > other.endsAtMs || (position.endsAtMs === other.endsAtMs && position.sessionId > other.sessionId);

/**
 * Makes the listing of live sessions, up to a hundred per page. The next page begins after the position in
 * `next_cursor`. The listing skips index entries of ended sessions, so that only the last page is short.
 */
export function makeSessionList({ store }: { store: SessionStore }) {
  return async (app: string, subject: string, cursor: string | null): Promise<BrokerSessions> => {
    const sessions: BrokerSession[] = [];
    let at = positionOf(cursor);
    let count: number = BROKER_LIMITS.sessionsPerPage;
    while (true) {
      const from = at;
      const { nowMs, entries } = await store.page(app, subject, { fromMs: from.endsAtMs, count });
      const further = entries.filter((position) => isAfter(position, from));
      const read = await store.read(
        further.map(({ sessionId }) => sessionId),
        nowMs,
      );
      for (const [i, position] of further.entries()) {
        const session = read[i] ?? null;
        if (session !== null && sessions.length === BROKER_LIMITS.sessionsPerPage) {
          return { sessions, next_cursor: `${at.endsAtMs}.${at.sessionId}` };
        }
        if (session !== null) sessions.push(session);
        at = position;
      }
      if (entries.length < count) return { sessions, next_cursor: null };
      // All entries end in the millisecond from which this page continues, so read more.
      if (further.length === 0) count *= 2;
    }
  };
}

export type SessionList = ReturnType<typeof makeSessionList>;
