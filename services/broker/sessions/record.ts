import type { BrokerSession, Persist } from '../../../shared/contract/modules/broker.ts';
import type { Scope } from '../../../shared/contract/vocabulary/fields.ts';

/** A live session as the store told it, and whose it is. Times are the store's, in Unix ms. */
export interface SessionRecord {
  /** When the store said so. */
  nowMs: number;
  sessionId: string;
  app: string;
  subject: string;
  /** Empty for a session without device. */
  meta: string;
  label: string;
  scope: Scope;
  persist: Persist;
  createdAtMs: number;
  lastActiveAtMs: number;
  endsAtMs: number;
  /** Rises with each change of the scope: an access token is good in its own epoch alone. */
  epoch: number;
  user: { name: string; roles: readonly string[] };
}

/** As scripts tell it. */
interface SessionReply extends Omit<SessionRecord, 'user'> {
  name: string;
  roles: string;
}

/** Who never logged in here is called by the user id. */
export const recordOf = ({ name, roles, ...session }: SessionReply): SessionRecord => ({
  ...session,
  user: { name: name || session.subject, roles: roles === '' ? [] : roles.split(',') },
});

export const LISTED_FIELDS = ['meta', 'label', 'scope', 'persist', 'created', 'active', 'ends', 'revoked'] as const;

/** A session as it is listed, from `LISTED_FIELDS`; null when it is over. */
export function listedOf(sessionId: string, values: readonly (string | null)[], nowMs: number): BrokerSession | null {
  const [meta, label, scope, persist, created, active, ends, revoked] = values;
  if (!ends || revoked !== null || Number(ends) <= nowMs) return null;
  return {
    session_id: sessionId,
    meta: meta ?? '',
    label: label ?? '',
    scope: scope as Scope,
    tier: scope as Scope,
    persist: persist as Persist,
    created_at: Number(created),
    last_active_at: Number(active),
    expires_at: Number(ends),
  };
}
