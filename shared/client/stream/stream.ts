import type { EventSourceMessage } from 'eventsource-parser';
import { LIMITS } from '../../contract/limits.ts';
import { ROUTES } from '../../contract/routes.ts';
import { type Clock, systemClock, untilAborted } from '../time/clock.ts';
import { type Line, openConnection } from './connection.ts';
import { makeDelivery } from './delivery.ts';
import { type Life, startLife } from './life.ts';
import { makePace } from './pace.ts';
import {
  type BaseUrl,
  baseOf,
  type Fetch,
  type HeaderSource,
  headersOf,
  platformFetch,
  type Query,
  urlOf,
} from '../http/request.ts';
import type { StreamEvent } from './stream-event.ts';
import type { StreamState } from './stream-state.ts';

export interface StreamOptions {
  baseUrl: BaseUrl;
  headers?: HeaderSource;
  query?: Query;
  /** The event to resume after, instead of beginning at the present end. */
  lastEventId?: string | undefined;
  /** Called for each event in order. An error of it is thrown outside the stream, which continues. */
  onEvent: (event: StreamEvent) => void;
  onState?: (state: StreamState) => void;
  /** Called for each event that was left out because it does not fit the contract. */
  onProblem?: (error: unknown) => void;
  /** Default true. False hands out duplicates too, marked `duplicate`, so that a message can be acknowledged once more. */
  dropDuplicates?: boolean;
  /** The heartbeat until the server's `ready` names it; default 15 s. A connection attempt may take 2.5 heartbeats. */
  heartbeatMs?: number;
  fetch?: Fetch;
  random?: () => number;
  clock?: Clock;
}

/** The event stream of a device. It never gives up: only `stop` ends it. */
export interface Stream {
  /** Begins, or continues from the last position after `stop` or `superseded`. Does nothing when it is running. */
  start(): void;
  /** Ends the connection and every timer, and resolves when that is done. No event is handed out after the call. */
  stop(): Promise<void>;
  /** Connects now instead of waiting, even when superseded. Does nothing on a running connection. */
  retryNow(): void;
  /** The position to resume from: the last id received. Null: none yet. */
  readonly lastEventId: string | null;
  readonly state: StreamState;
}

export function makeStream(options: StreamOptions): Stream {
  const { baseUrl, headers, query, clock = systemClock, heartbeatMs = LIMITS.heartbeatMs } = options;
  const { fetch = platformFetch, random = Math.random, lastEventId, dropDuplicates = true } = options;
  const pace = makePace(random);
  const delivery = makeDelivery({
    lastEventId,
    dropDuplicates,
    onProblem: (error) => outside(() => options.onProblem?.(error)),
  });
  let state: StreamState = { state: 'stopped' };
  let life: Life | null = null;
  let settled: Promise<void> = Promise.resolve();

  function report(next: StreamState): void {
    state = next;
    outside(() => options.onState?.(next));
  }

  async function send(signal: AbortSignal): Promise<Response> {
    const base = baseOf(baseUrl);
    const sent = await untilAborted(headersOf(headers, base), signal);
    sent.set('Accept', 'text/event-stream');
    const position = delivery.position();
    if (position !== null) sent.set('Last-Event-ID', position);
    const url = urlOf(base, ROUTES.openStream.path, query);
    return fetch(url, { headers: sent, signal, cache: 'no-store', redirect: 'manual' });
  }

  function connect() {
    let readyAt: number | null = null;
    function onFrame(frame: EventSourceMessage, line: Line): void {
      const event = delivery.take(frame);
      // Without a valid `ready` nothing after it can be understood.
      if (event === null && frame.event === 'ready' && readyAt === null) return line.end('not_a_stream');
      if (event === null) return;
      if (event.name === 'ready') {
        readyAt ??= clock.now();
        line.setHeartbeat(event.data.heartbeat_ms);
        if (state.state !== 'open') report({ state: 'open' });
      }
      outside(() => options.onEvent(event));
      if (event.name !== 'reconnect') return;
      line.end(event.data.reason === 'superseded' ? 'superseded' : 'reconnect', event.data.retry_ms);
    }
    const connection = openConnection({ send, heartbeatMs, clock, onFrame });
    return { connection, readyForMs: () => (readyAt === null ? null : clock.now() - readyAt) };
  }

  return {
    start() {
      if (state.state === 'superseded') life?.retryNow();
      if (life !== null) return;
      life = startLife({ connect, pace, clock, report, before: settled });
      settled = life.ended;
    },
    stop() {
      life?.end();
      life = null;
      return settled;
    },
    retryNow: () => life?.retryNow(),
    get lastEventId() {
      return delivery.position();
    },
    get state() {
      return state;
    },
  };
}

/** Runs the application's code so that its error is its own uncaught error, not the stream's. */
function outside(run: () => void): void {
  try {
    run();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
