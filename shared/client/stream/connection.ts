import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { BatonError } from '../../contract/errors.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Clock } from '../time/clock.ts';
import { NoAnswerError } from '../errors/no-answer.ts';
import { readRefusal } from '../errors/refusal.ts';
import { watchSilence } from '../time/silence.ts';

/** The most characters of one unfinished frame. The largest event of the contract is far below. */
const MAX_FRAME_CHARS = 1024 * 1024;
/** The range of `heartbeat_ms`. A value outside is an error of the server, and ignored. */
const LEAST_HEARTBEAT_MS = 10;
const MOST_HEARTBEAT_MS = 600_000;

/**
 * Why a connection is over.
 * - `ended`: the server closed it; `network`: it could not be made, or broke
 * - `silent`: 2.5 heartbeats without a byte; `oversized`: a frame over 1 MB
 * - `refused`: another status than 200; `not_a_stream`: 200, but something else, as from a captive portal
 * - `reconnect`, `superseded`: the server said so
 * - `woken`: the page had slept; `stopped`: by the application
 */
export type DropCause =
  | 'ended'
  | 'network'
  | 'silent'
  | 'oversized'
  | 'refused'
  | 'not_a_stream'
  | 'reconnect'
  | 'superseded'
  | 'woken'
  | 'stopped';

export interface Drop {
  readonly cause: DropCause;
  /** How long the server asks to wait, by `reconnect`, `retry:` or `Retry-After`; null when it does not say. */
  readonly hintMs: number | null;
  /** The error of a refusal, or of the network. */
  readonly error: BatonError | NoAnswerError | null;
}

/** The running connection, for the receiver of its frames. */
export interface Line {
  /** Ends the connection. Only the first call counts; no frame is handed out afterwards. */
  end(cause: DropCause, hintMs?: number): void;
  setHeartbeat(ms: number): void;
}

export interface Connection extends Line {
  /** Called when the page may have slept: ends the connection if no byte came for longer than one heartbeat. */
  wake(): void;
  /** Resolves when the connection is over and its socket is released. Never rejects. */
  readonly over: Promise<Drop>;
}

interface Opening {
  /** Sends the request. Honours the signal, even while the body is read. */
  send: (signal: AbortSignal) => Promise<Response>;
  /** The expected heartbeat until `setHeartbeat` is called. */
  heartbeatMs: number;
  clock: Clock;
  onFrame: (frame: EventSourceMessage, line: Line) => void;
}

/** Makes one HTTP connection to the event stream, and splits its bytes into frames. */
export function openConnection({ send, clock, onFrame, ...opening }: Opening): Connection {
  const controller = new AbortController();
  let drop: Drop | null = null;
  let retryMs: number | null = null;
  let { heartbeatMs } = opening;
  const limitMs = heartbeatMs * LIMITS.heartbeatsUntilDead;
  const silence = watchSilence({ clock, limitMs, onSilent: () => end('silent') });

  function end(cause: DropCause, hintMs: number | null = retryMs, error: Drop['error'] = null): Drop {
    drop ??= { cause, hintMs, error };
    controller.abort();
    return drop;
  }

  const line: Line = {
    end,
    setHeartbeat(ms) {
      if (!(ms >= LEAST_HEARTBEAT_MS && ms <= MOST_HEARTBEAT_MS)) return;
      heartbeatMs = ms;
      silence.setLimit(ms * LIMITS.heartbeatsUntilDead);
    },
  };

  function wake(): void {
    if (silence.quietMs() > heartbeatMs) end('woken');
  }

  async function readFrames(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = createParser({
      maxBufferSize: MAX_FRAME_CHARS,
      onEvent(frame) {
        if (drop === null) onFrame(frame, line);
      },
      onRetry(ms) {
        retryMs = ms;
      },
      onError(error) {
        if (error.type === 'max-buffer-size-exceeded') end('oversized');
      },
    });
    const decoder = new TextDecoder();
    const reader = body.getReader();
    // The signal is not enough: after a garbage collection Node 20 does not pass an abort on to a body that is being read.
    controller.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true });
    while (drop === null) {
      const { done, value } = await reader.read();
      if (done) return;
      silence.heard();
      parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  async function run(): Promise<Drop> {
    try {
      const response = await send(controller.signal);
      silence.heard();
      if (response.status !== 200) {
        const { error } = await readRefusal(response);
        const { retryAfterSeconds } = error.extras;
        return end('refused', retryAfterSeconds === undefined ? null : retryAfterSeconds * 1_000, error);
      }
      if (response.body === null || !isEventStream(response)) return end('not_a_stream');
      await readFrames(response.body);
      return end('ended');
    } catch (error) {
      // Our own abort ends here too. Its cause is already known and stays.
      return end('network', retryMs, new NoAnswerError('network', error));
    } finally {
      silence.stop();
    }
  }

  return { ...line, wake, over: run() };
}

function isEventStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').toLowerCase().startsWith('text/event-stream');
}
