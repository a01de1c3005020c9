import type { RateGroup } from './rates.ts';

/**
 * The error registry: the only place that ties a stable `code` to its status, its title and the reaction of a client.
 * `never`: the same request will fail again. `later`: after `Retry-After`. `refresh`: the session must be renewed or the
 * user must sign in first.
 */
interface ErrorEntry {
  status: number;
  title: string;
  retry: 'never' | 'later' | 'refresh';
  /** The status if the same request may succeed after its `Retry-After`. */
  laterStatus?: number;
}

const entry = (status: number, title: string, retry: ErrorEntry['retry'] = 'never') => ({ status, title, retry });

export const ERRORS = {
  invalid_request: entry(400, 'The request is malformed'),
  poll_secret_required: entry(400, 'The poll secret is missing or malformed'),
  invalid_device_name: entry(400, 'A device name is 1 to 32 printable ASCII characters'),
  scope_not_allowed: entry(400, 'A guest cannot be a native application'),
  empty_message: entry(400, 'The message is empty'),
  endpoint_not_allowed: entry(400, 'This push endpoint is not allowed'),
  upload_length_mismatch: entry(400, 'The upload does not have its declared length'),
  unauthenticated: entry(401, 'Sign in first', 'refresh'),
  untrusted_edge: entry(401, 'The request did not come through the edge'),
  session_revoked: entry(401, 'This device was signed out'),
  session_expired: entry(401, 'The session has ended'),
  reuse_detected: entry(401, 'The session was ended because an old credential was used again'),
  guest_forbidden: entry(403, 'Guests may not do this'),
  tier_exceeded: entry(403, 'The session may not grant this much'),
  device_mismatch: entry(403, 'A device can only renew its own session'),
  device_required: entry(403, 'This needs a session with a device'),
  cross_site: entry(403, 'The request came from another site'),
  access_denied: entry(403, 'The sign-in was denied'),
  account_refused: entry(403, 'This account may not sign in'),
  not_a_party: entry(403, 'This device takes no part in that transfer'),
  not_found: entry(404, 'There is no such thing'),
  feature_disabled: entry(404, 'This feature is switched off'),
  method_not_allowed: entry(405, 'The resource does not support this method'),
  name_taken: entry(409, 'Another device of the account has this name or one that looks the same'),
  keys_conflict: entry(409, 'The keys of the account have changed: `n` is the ring in force'),
  already_decided: entry(409, 'The sign-in request was already decided'),
  invalid_transition: entry(409, 'The transfer is in another state'),
  offset_mismatch: entry(409, 'The upload goes on at another offset'),
  mailbox_full: entry(409, 'The mailbox of the receiver is full', 'later'),
  device_limit: entry(409, 'The account has too many devices'),
  transfer_limit: entry(409, 'The account has too many live transfers', 'later'),
  login_expired: entry(410, 'The sign-in request has expired'),
  login_consumed: entry(410, 'The sign-in request was used'),
  upload_gone: entry(410, 'This upload was replaced'),
  body_too_large: entry(413, 'The body is too large'),
  message_too_large: entry(413, 'The message is too long: send a file'),
  clipboard_too_large: entry(413, 'The text is too long for the clipboard'),
  unsupported_media_type: entry(415, 'This content type is not supported'),
  range_not_available: { ...entry(416, 'These bytes are not available'), laterStatus: 503 },
  idempotency_key_reused: entry(422, 'The Idempotency-Key belongs to another request'),
  rate_limited: entry(429, 'Too many requests', 'later'),
  window_full: entry(429, 'The receiver is not reading', 'later'),
  internal: entry(500, 'Something went wrong here', 'later'),
  broker_contract: entry(502, 'The auth broker gave an unusable answer', 'later'),
  broker_unavailable: entry(503, 'The auth broker cannot be reached', 'later'),
  store_unavailable: entry(503, 'The store cannot be reached', 'later'),
  store_full: entry(503, 'The store is full', 'later'),
  draining: entry(503, 'This replica is shutting down', 'later'),
  relay_busy: entry(503, 'The relay has no room now', 'later'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** Returns every status that goes with a code. */
export function statusesOf(code: ErrorCode): [number, ...number[]] {
  const { status, laterStatus }: ErrorEntry = ERRORS[code];
  return laterStatus === undefined ? [status] : [status, laterStatus];
}

export const isErrorCode = (word: string): word is ErrorCode => Object.hasOwn(ERRORS, word);

export interface ErrorExtras {
  /** One entry for each invalid field, for `invalid_request`. */
  errors?: { path: string; message: string }[] | undefined;
  /** Sent as `Retry-After`; 429 and 503 default to 1. */
  retryAfterSeconds?: number | undefined;
  headers?: Record<string, string>;
  /** The group that refused, for `rate_limited`, if it is not the group of the route. */
  rateGroup?: RateGroup;
  /** Further members of the problem document, such as `state` of `invalid_transition`. */
  members?: Record<string, unknown>;
  cause?: unknown;
}

/**
 * The one error class on both sides of the wire. Rules and stores throw it with a code of the registry, one file turns it
 * into a response, and the client throws it again. `detail` is shown to users, so it never has a secret, a stack or a text
 * of the store.
 */
export class BatonError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly extras: ErrorExtras;

  constructor(code: ErrorCode, detail?: string, extras: ErrorExtras = {}) {
    super(detail ?? ERRORS[code].title, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'BatonError';
    this.code = code;
    const { status, laterStatus = status }: ErrorEntry = ERRORS[code];
    this.status = extras.retryAfterSeconds === undefined ? status : laterStatus;
    this.extras = extras;
  }
}
