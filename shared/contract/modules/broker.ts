import Type, { type Static } from 'typebox';
import { DeviceType, orNull, Scope, UnixMs } from '../vocabulary/fields.ts';
import { route } from '../vocabulary/route.ts';

/*
 * The requests and responses between the service and its auth broker. 401 `unauthenticated` is about the service's own
 * token; every other 401 is about the credential in the request.
 */

export const BROKER_LIMITS = {
  /** The latest end of a session that nobody renews. */
  sessionSeconds: 366 * 86_400,
  /** How long a repeated mint gets the first result. */
  mintReplaySeconds: 600,
  accessTokenSeconds: 300,
  /** The time between `iat` and `exp` of an identity assertion that an edge accepts. */
  assertionSeconds: 60,
  /** The lifetime of a session without a device, which a login makes and nobody renews. */
  loginSessionSeconds: 600,
  /** How long the earlier secret still works after the first use of the new one. */
  graceSeconds: 60,
  sessionsPerPage: 100,
} as const;

/** The user. Visible ASCII, so that it can be sent in a header. */
const Subject = Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$' });

/** Opaque to the broker: the service puts the device id here. */
const SessionMeta = Type.String({ pattern: '^[\\x21-\\x7e]{1,128}$' });

/** An id that only the broker interprets, and part of a credential. Not a secret. */
const SessionId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' });

/** The device's name as people read it in a list. */
const Label = Type.String({ pattern: '^\\P{Cc}{1,64}$' });

export const Persist = Type.Enum(['once', 'persist'], { description: '`once` is never renewed.' });
export type Persist = Static<typeof Persist>;

/** Text that may be a credential. If it is not one, the response is 401, not 400. */
const Presented = Type.String({ minLength: 1, maxLength: 4_096 });

export const MintSession = Type.Object({
  subject: Subject,
  meta: SessionMeta,
  label: Label,
  scope: Scope,
  persist: Persist,
  ttl_seconds: Type.Integer({ minimum: 1, maximum: BROKER_LIMITS.sessionSeconds }),
  sliding: Type.Boolean({
    description: 'Each rotation sets the end to now + `ttl_seconds`; it has no effect on `once`.',
  }),
  device_type: DeviceType,
  caller_tier: Scope,
  origin: Type.Enum(['login', 'qr']),
});
export type MintSession = Static<typeof MintSession>;

export const IssuedSession = Type.Object({
  session_id: SessionId,
  subject: Subject,
  meta: Type.String(),
  label: Type.String(),
  scope: Scope,
  tier: Scope,
  persist: Persist,
  created_at: UnixMs,
  expires_at: UnixMs,
  cookie: Type.Object({
    name: Type.String(),
    value: Type.String(),
    max_age_seconds: orNull(Type.Integer({ minimum: 1 })),
  }),
  access_token: Type.String(),
  expires_in: Type.Integer({ minimum: 1, description: 'Seconds for which the access token is valid.' }),
  user: Type.Object({ user_id: Subject, name: Type.String() }),
});
export type IssuedSession = Static<typeof IssuedSession>;

const RotateSession = Type.Object({ credential: Presented });

export const RevokeSession = Type.Object(
  {
    subject: Subject,
    session_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    meta: Type.Optional(SessionMeta),
    reason: Type.String({ pattern: '^\\P{Cc}{1,128}$' }),
  },
  { oneOf: [{ required: ['session_id'] }, { required: ['meta'] }] },
);
export type RevokeSession = Static<typeof RevokeSession>;

export const BrokerSession = Type.Object({
  session_id: SessionId,
  meta: Type.String({ description: 'Empty for a session without a device.' }),
  label: Type.String(),
  scope: Scope,
  tier: Scope,
  persist: Persist,
  created_at: UnixMs,
  last_active_at: UnixMs,
  expires_at: UnixMs,
});
export type BrokerSession = Static<typeof BrokerSession>;

export const BrokerSessions = Type.Object({
  sessions: Type.Array(BrokerSession),
  next_cursor: orNull(Type.String()),
});
export type BrokerSessions = Static<typeof BrokerSessions>;

const VerifySession = Type.Object(
  { credential: Type.Optional(Presented), access_token: Type.Optional(Presented) },
  { oneOf: [{ required: ['credential'] }, { required: ['access_token'] }] },
);
export type VerifySession = Static<typeof VerifySession>;

export const VerifiedIdentity = Type.Object({
  subject: Subject,
  scope: Scope,
  meta: Type.String(),
  name: Type.String(),
  roles: Type.Array(Type.String()),
  session_id: SessionId,
  expires_at: UnixMs,
});
export type VerifiedIdentity = Static<typeof VerifiedIdentity>;

/**
 * Member `session` of the problem document with which `rotate` and `verify` refuse an ended session (`session_revoked`,
 * `reuse_detected`), so that the service can end its open streams and requests. A broker may leave it out.
 */
export const EndedSession = Type.Object({ session_id: SessionId, subject: Subject, meta: Type.String() });
export type EndedSession = Static<typeof EndedSession>;

/** Every route needs the service's `Authorization: Bearer` and `X-Broker-App`. It ignores identity headers. */
export const brokerRoutes = {
  mintSession: route({
    method: 'POST',
    path: '/v1/sessions',
    summary: 'Mint the session of a device, or rotate the one it has',
    identity: 'public',
    idempotent: true,
    body: MintSession,
    answers: { 201: IssuedSession, 200: IssuedSession },
    errors: [
      'unauthenticated',
      'tier_exceeded',
      'account_refused',
      'already_decided',
      'store_unavailable',
      'store_full',
    ],
  }),
  rotateSession: route({
    method: 'POST',
    path: '/v1/sessions/rotate',
    summary: 'Exchange the secret of a session for its next one',
    identity: 'public',
    body: RotateSession,
    answers: { 200: IssuedSession },
    errors: [
      ...(['unauthenticated', 'session_revoked', 'session_expired', 'reuse_detected'] as const),
      ...(['account_refused', 'store_unavailable', 'store_full'] as const),
    ],
  }),
  revokeSession: route({
    method: 'POST',
    path: '/v1/sessions/revoke',
    summary: 'End a session, by its id or by its meta',
    identity: 'public',
    body: RevokeSession,
    answers: { 204: null },
    errors: ['unauthenticated', 'not_found', 'store_unavailable', 'store_full'],
  }),
  listSessions: route({
    method: 'GET',
    path: '/v1/sessions',
    summary: "List the user's sessions with the calling app",
    identity: 'public',
    query: Type.Object({
      subject: Subject,
      cursor: Type.Optional(Type.String({ pattern: '^(\\d{1,15}\\.[A-Za-z0-9_-]{44})?$' })),
    }),
    answers: { 200: BrokerSessions },
    errors: ['unauthenticated', 'store_unavailable', 'store_full'],
  }),
  verifySession: route({
    method: 'POST',
    path: '/v1/verify',
    summary: 'Tell who a credential or access token belongs to',
    identity: 'public',
    body: VerifySession,
    answers: { 200: VerifiedIdentity },
    errors: [
      'unauthenticated',
      'session_revoked',
      'session_expired',
      'reuse_detected',
      'store_unavailable',
      'store_full',
    ],
  }),
};
