import type { EventName } from '../../shared/contract/events.ts';
import { makeStream, type Stream, type StreamOptions } from '../../shared/client/stream/stream.ts';
import type { StreamEvent, StreamEventOf } from '../../shared/client/stream/stream-event.ts';
import type { StreamState } from '../../shared/client/stream/stream-state.ts';

/** How long a test waits for anything. It is generous, because only a failing test waits this long. */
const PATIENCE_MS = 40_000;

/** A queue of items that arrive, and of their waiters. Nothing is polled, and nothing sleeps. */
export interface Inbox<T> {
  /** Everything that arrived, in order. */
  readonly all: readonly T[];
  push(item: T): void;
  /**
   * Resolves to the first item, in order of arrival, that `match` accepts and that no earlier call got. The item may have
   * arrived before. Rejects after `patienceMs` (`PATIENCE_MS`), and then lists what is there instead.
   */
  next(match?: (item: T) => boolean, patienceMs?: number): Promise<T>;
  /** Ends the inbox, and rejects its remaining waiters. Such a waiter may be one that lost a race. */
  close(): void;
}

interface Waiter<T> {
  match: (item: T) => boolean;
  give: (item: T) => void;
  giveUp: (why: string) => void;
}

/** Makes an inbox. `describe` names an item in the error of a wait that failed. */
export function makeInbox<T>(describe: (item: T) => string): Inbox<T> {
  const all: T[] = [];
  const unclaimed: T[] = [];
  const waiters: Waiter<T>[] = [];

  function wait(match: (item: T) => boolean, patienceMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter<T> = {
        match,
        give(item) {
          clearTimeout(timer);
          resolve(item);
        },
        giveUp(why) {
          clearTimeout(timer);
          const there = unclaimed.slice(-20).map(describe).join(', ');
          reject(new Error(`${why}; unclaimed: ${there || 'nothing'}`));
        },
      };
      const timer = setTimeout(() => {
        waiters.splice(waiters.indexOf(waiter), 1);
        waiter.giveUp(`Waited ${patienceMs} ms in vain`);
      }, patienceMs);
      waiters.push(waiter);
    });
  }

  return {
    all,
    push(item) {
      all.push(item);
      const index = waiters.findIndex(({ match }) => match(item));
      if (index < 0) unclaimed.push(item);
      else waiters.splice(index, 1)[0]?.give(item);
    },
    next(match = () => true, patienceMs = PATIENCE_MS) {
      const index = unclaimed.findIndex(match);
      return index < 0 ? wait(match, patienceMs) : Promise.resolve(unclaimed.splice(index, 1)[0] as T);
    },
    close() {
      for (const waiter of waiters.splice(0)) waiter.giveUp('Stopped');
    },
  };
}

/** An event and when it arrived, in milliseconds of `performance.now()`. */
export type Recorded<N extends EventName = EventName> = StreamEventOf<N> & { readonly at: number };

export interface Recorder {
  readonly stream: Stream;
  /** Every event handed out, in order. */
  readonly events: readonly (StreamEvent & { readonly at: number })[];
  readonly states: readonly StreamState[];
  /** Resolves to the first event of this name that `match` accepts and that no earlier call got. */
  next<N extends EventName>(
    name: N,
    match?: (event: Recorded<N>) => boolean,
    patienceMs?: number,
  ): Promise<Recorded<N>>;
  nextState<S extends StreamState['state']>(state: S): Promise<Extract<StreamState, { state: S }>>;
  stop(): Promise<void>;
}

/** Starts a stream and keeps all its events and states. */
export function recordStream(options: Omit<StreamOptions, 'onEvent'>): Recorder {
  const events = makeInbox<StreamEvent & { at: number }>(({ name, id }) => (id === null ? name : `${name} ${id}`));
  const states = makeInbox<StreamState>(({ state }) => state);
  const stream = makeStream({
    ...options,
    onEvent: (event) => events.push({ ...event, at: performance.now() }),
    onState(state) {
      states.push(state);
      options.onState?.(state);
    },
  });
  stream.start();
  return {
    stream,
    events: events.all,
    states: states.all,
    async next<N extends EventName>(
      name: N,
      match: (event: Recorded<N>) => boolean = () => true,
      patienceMs = PATIENCE_MS,
    ) {
      const event = await events.next((one) => one.name === name && match(one as unknown as Recorded<N>), patienceMs);
      return event as unknown as Recorded<N>;
    },
    async nextState<S extends StreamState['state']>(state: S) {
      return (await states.next((one) => one.state === state)) as Extract<StreamState, { state: S }>;
    },
    async stop() {
      await stream.stop();
      events.close();
      states.close();
    },
  };
}
