import type { ServiceErrorCode } from '../wire.ts';
import type { Outcome } from './outcome.ts';

/**
 * What a program does about an error.
 * - `retry`: the same call may succeed later, after `retryAfterMs`
 * - `sign-in`: there is no session any more
 * - `tell-user`: the same call fails again; `message` says why
 */
export type ErrorAction = 'retry' | 'sign-in' | 'tell-user';

/** Codes that are this library's own, beside those of the contract. */
export type LocalErrorCode =
  /** Nobody answered; whether the request had an effect is unknown. */
  | 'network'
  | 'timeout'
  /** The answer is not what the contract says. */
  | 'unexpected_answer'
  /** The address is not of the service that the session is of: nothing was sent there. */
  | 'other_service'
  /** The address is not encrypted, and nobody said that this is wanted: nothing was sent there. */
  | 'plain_http'
  /** The device was let in, and its session could not be used in time. */
  | 'not_confirmed'
  /** The signal that the call was given was aborted, or the client was closed. */
  | 'aborted'
  /** There is no session in the store. */
  | 'signed_out'
  /** The bytes that came are not those that were announced. */
  | 'digest_mismatch'
  /** A source ended before its size, or went on behind it, or could not be opened where it was needed. */
  | 'source_failed'
  /** A sink could not be opened or written. */
  | 'sink_failed'
  /** Another program of this device receives this transfer. */
  | 'taken'
  /** How a transfer ended that was not completed. */
  | 'rejected'
  | 'cancelled'
  | 'failed'
  | 'peer_offline'
  | 'transfer_gone';

/** What an error says beside its code and message. */
export interface ErrorDetails {
  /** Default `tell-user`. */
  readonly action?: ErrorAction;
  /** Default `none`. */
  readonly outcome?: Outcome;
  readonly requestId?: string | null;
  readonly status?: number | null;
  readonly retryAfterMs?: number | null;
  readonly fields?: readonly { path: string; message: string }[];
  readonly byOther?: boolean;
  readonly cause?: unknown;
}

const UNSAID = {
  ...{
    action: 'tell-user',
    outcome: 'none',
    requestId: null,
    status: null,
    retryAfterMs: null,
    fields: [],
    byOther: false,
  },
} as const;

/** The one error that the library throws. */
export class BatonClientError extends Error {
  /** A code of the contract, or this library's own. A newer service may send others. */
  declare readonly code: ServiceErrorCode | LocalErrorCode | (string & {});
  declare readonly action: ErrorAction;
  /**
   * `none`: the call had no effect. `unknown`: it may have had one, because no answer came, or one that does not tell. To repeat
   * such a call once and no more, send the same `idempotencyKey`.
   */
  declare readonly outcome: Outcome;
  /** The id of the request in the service's log; null where nobody answered. */
  declare readonly requestId: string | null;
  /** The HTTP status; null where there was no answer. */
  declare readonly status: number | null;
  /** What the service asked to wait; null when it said nothing. */
  declare readonly retryAfterMs: number | null;
  /** Of `invalid_request`: what is wrong with each field. */
  declare readonly fields: readonly { path: string; message: string }[];
  /** The device at the other end of a transfer ended it so, as the service says (`error.by_device_id`). */
  declare readonly byOther: boolean;

  constructor(code: BatonClientError['code'], message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { name: 'BatonClientError', code, ...UNSAID, ...details });
  }
}
