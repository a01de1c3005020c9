import { LIMITS } from '../../contract/limits.ts';
import { PARTIAL_UPLOAD, UPLOAD_DRAFT_INTEROP_VERSION } from '../../contract/modules/relay.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { Caller } from '../http/caller.ts';
import { type Clock, untilAborted } from '../time/clock.ts';
import { NoAnswerError } from '../errors/no-answer.ts';
import { abortedBy, failureOf } from '../errors/failure.ts';
import { watchSilence } from '../time/silence.ts';

/**
 * The time for a piece, which is answered when it is taken. If the receiver does not read, the service reports after a
 * minute that the window is full.
 */
const APPEND_MS = 90_000;
/** A download that brings nothing for this long is requested again, because a connection may die silently. */
const SILENT_MS = LIMITS.heartbeatMs * LIMITS.heartbeatsUntilDead;

export interface Append {
  path: string;
  offset: number;
  bytes: Uint8Array<ArrayBuffer> | Blob;
  /** True: the bytes end with the last byte of the file. */
  completes: boolean;
}

/** Returns the offset in a response or refusal of an upload; null without one. */
export function offsetIn(error: BatonClientError): number | null {
  const { cause } = error;
  const { extras } = (cause ?? {}) as { extras?: { members?: Record<string, unknown> } };
  const offset = extras?.members?.['upload-offset'];
  return typeof offset === 'number' && Number.isSafeInteger(offset) ? offset : null;
}

function offsetOf(response: Response): number {
  const offset = Number(response.headers.get('upload-offset') ?? Number.NaN);
  if (Number.isSafeInteger(offset)) return offset;
  throw new BatonClientError('unexpected_answer', 'The service did not say its offset', { action: 'retry' });
}

/** Sends a piece of a file, and returns the new offset of the upload. */
export async function append(caller: Caller, clock: Clock, piece: Append, signal: AbortSignal): Promise<number> {
  const controller = new AbortController();
  const cancel = clock.after(APPEND_MS, () => controller.abort(failureOf(new NoAnswerError('timeout', null))));
  try {
    const response = await caller.bytes({
      method: 'PATCH',
      path: piece.path,
      body: piece.bytes,
      signal: AbortSignal.any([signal, controller.signal]),
      headers: {
        'Upload-Draft-Interop-Version': UPLOAD_DRAFT_INTEROP_VERSION,
        'Content-Type': PARTIAL_UPLOAD,
        'Upload-Offset': String(piece.offset),
        'Upload-Complete': piece.completes ? '?1' : '?0',
      },
    });
    return offsetOf(response);
  } finally {
    cancel();
  }
}

interface Download {
  path: string;
  offset: number;
  /** Called with each part in order; the next part waits until it resolves. */
  take: (bytes: Uint8Array) => Promise<void>;
}

/**
 * Downloads the bytes of a file from `offset` on, until they end, which may be before the end of the file. A receiver waits
 * for its sender as long as necessary.
 */
export async function download(caller: Caller, clock: Clock, wanted: Download, signal: AbortSignal): Promise<void> {
  const controller = new AbortController();
  const silent = failureOf(new NoAnswerError('timeout', null));
  const silence = watchSilence({ clock, limitMs: SILENT_MS, onSilent: () => controller.abort(silent) });
  try {
    const headers: Record<string, string> = wanted.offset > 0 ? { Range: `bytes=${wanted.offset}-` } : {};
    const either = AbortSignal.any([signal, controller.signal]);
    const response = await caller.bytes({ method: 'GET', path: wanted.path, headers, signal: either });
    const from = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1] ?? '0';
    if (response.body === null || Number(from) !== wanted.offset) {
      response.body?.cancel().catch(() => {});
      throw new BatonClientError('unexpected_answer', 'Other bytes arrived than were asked for', { action: 'retry' });
    }
    const reader = response.body.getReader();
    try {
      for (;;) {
        // The signal of the request is not enough, as in `stream/connection.ts`.
        const { done, value } = await untilAborted(reader.read(), either).catch((error: unknown) => {
          throw new NoAnswerError('network', error);
        });
        if (done) return;
        await wanted.take(value);
        silence.heard();
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  } catch (error) {
    if (controller.signal.aborted && !signal.aborted) throw silent;
    throw signal.aborted ? abortedBy(signal) : failureOf(error);
  } finally {
    silence.stop();
  }
}
