import type { ServiceErrorCode } from '../wire.ts';
import type { Outcome } from './outcome.ts';

/**
 * How a program handles an error.
 * - `retry`: the same call may succeed later, after `retryAfterMs`
 * - `sign-in`: there is no longer a session
 * - `tell-user`: the same call fails again; `message` says why
 */
export type ErrorAction = 'retry' | 'sign-in' | 'tell-user';

/** The library's own codes, besides those of the contract. */
export type LocalErrorCode =
  /** No response came; whether the request had an effect is unknown. */
  | 'network'
  | 'timeout'
  /** The response does not fit the contract. */
  | 'unexpected_answer'
  /** The session belongs to another service than this address: nothing was sent there. */
  | 'other_service'
  /** The address is not encrypted, which was not allowed: nothing was sent there. */
  | 'plain_http'
  /** The device was let in, but its session could not be used in time. */
  | 'not_confirmed'
  /** The signal of the call was aborted, or the client was closed. */
  | 'aborted'
  /** There is no session in the store. */
  | 'signed_out'
  /** The received bytes do not have the announced digest. */
  | 'digest_mismatch'
  /** A source has fewer or more bytes than its size, or could not be opened when it was needed. */
  | 'source_failed'
  /** A sink could not be opened or written. */
  | 'sink_failed'
  /** Another program of this device receives this transfer. */
  | 'taken'
  /** How an incomplete transfer ended. */
  | 'rejected'
  | 'cancelled'
  | 'failed'
  | 'peer_offline'
  | 'transfer_gone';

/** The details of an error besides its code and message. */
export interface ErrorDetails {
  /** Default `tell-user`. */
  readonly action?: ErrorAction;
  /** Default `none`. */
  readonly outcome?: Outcome;
  readonly request_id?: string | null;
  readonly status?: number | null;
  readonly retryAfterMs?: number | null;
  readonly fields?: readonly { path: string; message: string }[];
  readonly byOther?: boolean;
  readonly cause?: unknown;
}

const UNSAID = {
  action: 'tell-user',
  outcome: 'none',
  request_id: null,
  status: null,
  retryAfterMs: null,
  fields: [],
  byOther: false,
} as const;

/** The one error that the library throws. */
export class BatonClientError extends Error {
  /** A code of the contract, or this library's own. A newer service may send others. */
  declare readonly code: ServiceErrorCode | LocalErrorCode | (string & {});
  declare readonly action: ErrorAction;
  /**
   * `none`: the call had no effect. `unknown`: it may have had one, because no response came, or one that does not tell. To
   * repeat such a call without a second effect, send the same `idempotencyKey`.
   */
  declare readonly outcome: Outcome;
  /** The id of the request in the service's log; null without a response. */
  declare readonly request_id: string | null;
  /** The HTTP status; null without a response. */
  declare readonly status: number | null;
  /** How long the service asks to wait; null when it did not say. */
  declare readonly retryAfterMs: number | null;
  /** The fields that `invalid_request` names, and the error in each. */
  declare readonly fields: readonly { path: string; message: string }[];
  /** The other device of a transfer ended it with this error, as the service says (`error.by_device_id`). */
  declare readonly byOther: boolean;

  constructor(code: BatonClientError['code'], message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { name: 'BatonClientError', code, ...UNSAID, ...details });
  }
}
