import Type, { type Static } from 'typebox';
import { Persist } from './broker.ts';
import { event } from '../vocabulary/event.ts';
import {
  DeviceId,
  DeviceNameInput,
  DeviceRef,
  DeviceType,
  NO_DEVICE,
  orNull,
  Scope,
  Text,
  UnixMs,
  UserId,
} from '../vocabulary/fields.ts';
import { Announced, MaybeProof } from './keys.ts';
import { route } from '../vocabulary/route.ts';

/** The longest life of an access token. */
export const ACCESS_TOKEN_SECONDS = 86_400;

export const SessionAnswer = Type.Object({
  access_token: Type.String({ pattern: '^[\\x21-\\x7e]{1,8192}$' }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({
    minimum: 1,
    maximum: ACCESS_TOKEN_SECONDS,
    description: 'Seconds for which the access token is valid.',
  }),
  scope: Scope,
  persist: Persist,
  session_expires_at: UnixMs,
  device: orNull(DeviceRef),
  user: Type.Object({ user_id: UserId, name: Text }),
});
export type SessionAnswer = Static<typeof SessionAnswer>;

export const StartDeviceSession = Type.Object({
  device_id: DeviceId,
  device_name: DeviceNameInput,
  device_type: DeviceType,
  scope: Type.Optional(Scope),
  persist: Type.Optional(Persist),
});
export type StartDeviceSession = Static<typeof StartDeviceSession>;

export const DeviceSession = Type.Object({
  session_id: orNull(Type.String()),
  device_id: DeviceId,
  name: Text,
  type: orNull(DeviceType),
  scope: orNull(Scope),
  persist: orNull(Persist),
  online: Type.Boolean(),
  current: Type.Boolean({ description: "True for the caller's own device." }),
  created_at: orNull(UnixMs),
  last_active_at: orNull(UnixMs),
  expires_at: orNull(UnixMs),
});
export type DeviceSession = Static<typeof DeviceSession>;

const ofBroker = ['broker_unavailable', 'broker_contract'] as const;
/** Any text. If it names no device, there is nothing to remove. */
const params = Type.Object({ device_id: Type.String() });

/** Makes the route that removes a device by its id, under either of its two paths. */
const removing = <const P extends string>(path: P) =>
  route({
    method: 'DELETE',
    path,
    summary: 'Sign out and remove a device, with everything that waits for it',
    scope: 'own',
    endsSession: true,
    rate: 'removal',
    notFound: NO_DEVICE,
    params,
    answers: { 204: null, 202: null },
    errors: ofBroker,
  });

export const sessionRoutes = {
  logIn: route({
    method: 'GET',
    path: '/api/auth/login',
    summary: 'Go to the login of the auth broker',
    identity: 'public',
    rate: 'auth',
    query: Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 2_048, description: 'A local path.' })) }),
    answers: { 302: null },
    answerHeaders: { 302: ['Location'] },
    errors: ['broker_unavailable'],
  }),
  startDeviceSession: route({
    method: 'POST',
    path: '/api/auth/device-session',
    summary: "Mint the session of a device, or renew the caller's own",
    cors: false,
    rate: 'device_session',
    body: StartDeviceSession,
    answers: { 200: SessionAnswer },
    answerHeaders: { 200: ['Set-Cookie'] },
    errors: [
      ...ofBroker,
      ...(['invalid_device_name', 'scope_not_allowed', 'tier_exceeded', 'device_mismatch', 'guest_forbidden'] as const),
      ...(['account_refused', 'device_limit', 'session_expired'] as const),
    ],
  }),
  refreshSession: route({
    method: 'POST',
    path: '/api/auth/refresh',
    summary: 'Renew a session by its cookie, or by the credential in the body',
    identity: 'public',
    cors: true,
    rate: 'auth',
    body: Type.Object({ credential: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })) }),
    bodyOptional: true,
    answers: { 200: SessionAnswer },
    answerHeaders: { 200: ['Set-Cookie'] },
    errors: [
      ...ofBroker,
      ...(['unauthenticated', 'session_expired', 'session_revoked', 'reuse_detected', 'account_refused'] as const),
      'device_limit',
    ],
  }),
  logOut: route({
    method: 'POST',
    path: '/api/auth/logout',
    summary: "End the caller's own session",
    endsSession: true,
    rate: 'auth',
    answers: { 204: null },
    answerHeaders: { 204: ['Set-Cookie'] },
    errors: ofBroker,
  }),
  listSessions: route({
    method: 'GET',
    path: '/api/auth/sessions',
    summary: 'The sessions of the account',
    scope: 'full',
    rate: 'auth',
    answers: { 200: Type.Object({ sessions: Type.Array(DeviceSession), stale: Type.Boolean() }) },
  }),
  removeSession: removing('/api/auth/sessions/{device_id}'),
  removeDevice: removing('/api/devices/{device_id}'),
  removeOtherSessions: route({
    method: 'DELETE',
    path: '/api/auth/sessions',
    summary: "End all sessions except the caller's own",
    scope: 'full',
    rate: 'auth',
    answers: { 200: Type.Object({ revoked: Type.Integer({ minimum: 0 }) }) },
    errors: ofBroker,
  }),
  eraseAccount: route({
    method: 'DELETE',
    path: '/api/me/data',
    summary:
      'Remove everything that the service keeps of the account, but not its sessions. For an account with keys: at once if a member signs the request, else a day after the announcement',
    cors: false,
    scope: 'full',
    rate: 'erase',
    body: MaybeProof,
    bodyOptional: true,
    answers: { 202: Announced, 204: null },
    errors: ['keys_conflict'],
  }),
};

/** Why a session ended. */
export const REVOKED_REASONS = ['revoked', 'logout', 'expired'] as const;
export type RevokedReason = (typeof REVOKED_REASONS)[number];

/** Why a device left the account. `removed`: another device signed it out. */
export const REMOVED_REASONS = ['removed', 'logout', 'expired'] as const;
export type RemovedReason = (typeof REMOVED_REASONS)[number];

export const sessionEvents = {
  'device:removed': event({
    summary: 'A device was signed out and removed, or its session expired',
    data: Type.Object({
      device_id: DeviceId,
      // A replica of the previous version does not say why.
      reason: Type.Optional(Type.Enum([...REMOVED_REASONS])),
    }),
    id: 'always',
  }),
  'session:revoked': event({
    summary: 'The session behind this stream has ended; the stream ends after it',
    data: Type.Object({ reason: Type.Enum([...REVOKED_REASONS]) }),
    id: 'never',
  }),
};
