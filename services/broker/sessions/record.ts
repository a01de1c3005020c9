import type { BrokerSession, Persist } from '../../../shared/contract/modules/broker.ts';
import type { Scope } from '../../../shared/contract/vocabulary/fields.ts';

/** A live session as the store returned it, and its user. Times are the store's, in Unix ms. */
export interface SessionRecord {
  /** The time of the store's reply. */
  nowMs: number;
  sessionId: string;
  app: string;
  subject: string;
  /** Empty for a session without a device. */
  meta: string;
  label: string;
  scope: Scope;
  persist: Persist;
  createdAtMs: number;
  lastActiveAtMs: number;
  endsAtMs: number;
  /** Rises with each change of the scope. An access token is valid only in its own epoch. */
  epoch: number;
  user: { name: string; roles: readonly string[] };
}

/** A session as scripts return it. */
interface SessionReply extends Omit<SessionRecord, 'user'> {
  name: string;
  roles: string;
}

/** Makes a record from a reply. The name of a user who never logged in here is the user id. */
export const recordOf = ({ name, roles, ...session }: SessionReply): SessionRecord => ({
  ...session,
  user: { name: name || session.subject, roles: roles === '' ? [] : roles.split(',') },
});

export const LISTED_FIELDS = ['meta', 'label', 'scope', 'persist', 'created', 'active', 'ends', 'revoked'] as const;

/** Returns a session for a listing, from `LISTED_FIELDS`; null if it has ended. */
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
