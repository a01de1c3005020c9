import Type, { type Static } from 'typebox';
import { Persist } from './broker.ts';
import { event } from '../vocabulary/event.ts';
import { DeviceId, DeviceNameInput, DeviceType, Scope, UnixMs } from '../vocabulary/fields.ts';
import { LIMITS } from '../limits.ts';
import { DeviceKeys, SealedGrant } from '../vocabulary/sealed.ts';
import { route } from '../vocabulary/route.ts';
import { SessionAnswer } from './sessions.ts';

/** 128 random bits, base64url. */
const RequestId = Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' });

/** 256 random bits, base64url. */
const PollSecret = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

/** Any text where an id or code is expected. Malformed text gets the same response as an unknown id. */
const Named = Type.String({ minLength: 1, maxLength: 128 });

export const ApproveLogin = Type.Object({
  request_id: Named,
  approval_code: Named,
  scope: Scope,
  persist: Persist,
  sealed: Type.Optional(SealedGrant),
});
export type ApproveLogin = Static<typeof ApproveLogin>;

/** The device that asks to be let in. */
const Asking = {
  request_id: RequestId,
  device_name: Type.String(),
  device_type: DeviceType,
  source: Type.Object({
    address: Type.String({ description: 'Coarse: a /24 of IPv4, a /48 of IPv6.' }),
    user_agent: Type.String({ description: 'Such as `Firefox on Windows`.' }),
  }),
  expires_at: UnixMs,
  device_id: DeviceId,
  keys: Type.Optional(DeviceKeys),
  relink: Type.Optional(
    Type.Boolean({
      description: 'The device is already signed in and asks for keys. Its scope and lifetime stay the same.',
    }),
  ),
};

/** The event of the inviting device, with everything that it needs to ask its user, and to approve. */
export const SigninRequested = Type.Object({ ...Asking, approval_code: Type.String() });
export type SigninRequested = Static<typeof SigninRequested>;

const StartedLogin = Type.Object({
  request_id: RequestId,
  poll_secret: PollSecret,
  qr_payload: Type.String({ maxLength: 1_024 }),
  expires_at: UnixMs,
});

export const LoginRequestView = Type.Object({
  ...Asking,
  age_seconds: Type.Integer({ minimum: 0 }),
  allowed_scopes: Type.Array(Scope, { description: 'With `relink`, the scope that the device has.' }),
  allowed_persist: Type.Array(Persist, {
    description:
      'What the caller may grant; a `once` session may grant only `once`. With `relink`, what the device has.',
  }),
});
export type LoginRequestView = Static<typeof LoginRequestView>;

/** The text is the same for a request that never existed, is long over, or was named with the wrong secret or code. */
const notFound = 'There is no such sign-in request, or this is not its secret or code';

/** The text is the same for an invite that never existed, was used, or has expired. */
const NO_INVITE = 'There is no such invite, or it was used or has expired';

const ended = ['not_found', 'access_denied', 'login_expired', 'login_consumed', 'already_decided'] as const;

export const signinRoutes = {
  startLogin: route({
    method: 'POST',
    path: '/api/auth/qr/start',
    summary: 'Ask to be signed in. The answer has the text to show as a QR code, and the secret to poll with',
    identity: 'public',
    rate: 'qr_start',
    notFound: NO_INVITE,
    body: Type.Object({
      device_name: DeviceNameInput,
      device_type: DeviceType,
      invite: Type.Optional(Named),
      keys: Type.Optional(DeviceKeys),
    }),
    answers: { 201: StartedLogin },
    errors: ['feature_disabled', 'invalid_device_name', 'not_found'],
  }),
  relinkLogin: route({
    method: 'POST',
    path: '/api/auth/qr/relink',
    summary:
      'Ask for keys, as a device that is already signed in. When the request is consumed, the session is rotated in place; its scope and lifetime stay the same',
    cors: false,
    device: 'required',
    rate: 'qr_start',
    body: Type.Object({ keys: DeviceKeys }),
    answers: { 201: StartedLogin },
    errors: ['feature_disabled'],
  }),
  inviteLogin: route({
    method: 'POST',
    path: '/api/auth/qr/invite',
    summary: 'Invite a new device. The caller shows a code, and gets `signin:requested` when a device has scanned it',
    scope: 'full',
    device: 'required',
    rate: 'qr_invite',
    answers: {
      201: Type.Object({
        invite_id: RequestId,
        invite_payload: Type.String({ maxLength: 1_024 }),
        expires_at: UnixMs,
      }),
    },
    errors: ['feature_disabled'],
  }),
  pollLogin: route({
    method: 'GET',
    getOnly: true,
    path: '/api/auth/qr/status',
    summary: 'Wait for the approval, with X-Poll-Secret. Only the first answer after it carries the session',
    identity: 'public',
    rate: 'auth',
    notFound,
    headers: {
      'X-Poll-Secret': {
        description: 'The `poll_secret` from the start of the request.',
        required: true,
        schema: PollSecret,
      },
    },
    query: Type.Object({
      request_id: Named,
      wait_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: LIMITS.pollMs })),
    }),
    answers: {
      200: Type.Intersect([
        Type.Object({
          status: Type.Literal('approved'),
          sealed: Type.Optional(
            Type.String({
              description: 'What the approver sealed for this device. It is handed over once, with the session.',
            }),
          ),
        }),
        SessionAnswer,
      ]),
      202: Type.Object({ status: Type.Literal('pending'), expires_at: UnixMs }),
    },
    answerHeaders: { 200: ['Set-Cookie'] },
    errors: [
      ...(['feature_disabled', 'poll_secret_required', 'not_found', 'access_denied', 'login_expired'] as const),
      ...(['login_consumed', 'device_limit', 'broker_unavailable', 'broker_contract'] as const),
    ],
  }),
  readLogin: route({
    method: 'GET',
    path: '/api/auth/qr/request',
    summary: 'The details of a sign-in request, to be shown to the user who decides',
    scope: 'full',
    rate: 'auth',
    notFound,
    query: Type.Object({ request_id: Named, approval_code: Named }),
    answers: { 200: LoginRequestView },
    errors: ['feature_disabled', 'rate_limited', ...ended],
  }),
  approveLogin: route({
    method: 'POST',
    path: '/api/auth/qr/approve',
    summary: 'Approve the request of a device',
    cors: false,
    scope: 'full',
    rate: 'auth',
    notFound,
    body: ApproveLogin,
    answers: { 200: Type.Object({ status: Type.Literal('approved') }) },
    errors: [
      ...(['feature_disabled', 'rate_limited', 'scope_not_allowed', 'tier_exceeded', ...ended] as const),
      ...(['broker_unavailable', 'broker_contract', 'body_too_large'] as const),
    ],
  }),
  denyLogin: route({
    method: 'POST',
    path: '/api/auth/qr/deny',
    summary: 'Deny the request of a device',
    rate: 'auth',
    notFound,
    body: Type.Object({ request_id: Named, approval_code: Type.Optional(Named) }),
    answers: { 200: Type.Object({ status: Type.Literal('denied') }) },
    errors: ['feature_disabled', 'rate_limited', ...ended],
  }),
  openLink: route({
    method: 'GET',
    path: '/link/plain',
    summary: 'A page without script that asks whether to let the other device in',
    loginRedirect: true,
    rate: 'link',
    query: Type.Object({ r: Type.Optional(Named), c: Type.Optional(Named) }),
    notFound,
    answers: { 200: 'text/html', 302: null },
    answerHeaders: { 302: ['Location'] },
    errors: ['feature_disabled', 'guest_forbidden', ...ended],
  }),
  decideLink: route({
    method: 'POST',
    path: '/link',
    summary: 'Submit the form of that page',
    loginRedirect: true,
    rate: 'link',
    body: Type.Object({
      request_id: Named,
      approval_code: Named,
      decision: Type.Enum(['approve', 'deny']),
      scope: Type.Optional(Scope),
      persist: Type.Optional(Persist),
    }),
    bodyKind: 'form',
    notFound,
    answers: { 200: 'text/html', 303: null },
    answerHeaders: { 303: ['Location'] },
    errors: [
      ...(['feature_disabled', 'guest_forbidden', 'scope_not_allowed', 'tier_exceeded', ...ended] as const),
      ...(['broker_unavailable', 'broker_contract'] as const),
    ],
  }),
};

export const signinEvents = {
  'signin:requested': event({
    summary:
      'A new device has scanned the invite of this one and asks to be let in. The event is repeated after each `ready` until somebody decides',
    data: SigninRequested,
    id: 'never',
  }),
};
