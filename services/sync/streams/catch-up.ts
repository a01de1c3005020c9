import type { EventName } from '../../../shared/contract/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { frame } from './frames.ts';
import type { LocalStreams } from './local-streams.ts';
import { makePermits } from './permits.ts';
import type { HubStore, Page } from './store.ts';
import type { Stream } from './stream.ts';

/** Pages in memory at once over all streams of a replica: at most 16 MiB. */
const PAGES_AT_ONCE = 64;

/** An event that is sent again: without id, because its place in the log is behind the stream. */
export interface PendingEvent {
  name: EventName;
  /** Of the message or transfer. */
  id: string;
  /** JSON text. */
  data: string;
}

interface CatchUpParts {
  store: HubStore;
  streams: LocalStreams;
  metrics: Metrics;
  /** What the stream's device has not taken yet and does not get from the log, page by page. */
  pending: (stream: Stream, position: string) => AsyncIterable<PendingEvent[]>;
  /** The position is no longer in the log: send the stream another `ready`. */
  onLost: (stream: Stream) => Promise<void>;
  onLive: (stream: Stream) => void;
  onFailure: (stream: Stream, error: unknown) => void;
}

/**
 * Brings a stream that is behind up to the present: reads the log from its position page by page, whenever the socket
 * takes more, until a page reached the end AND no announcement was dropped since that page was asked for. Then every
 * later event is announced to a stream that is live, and none can fall between.
 */
export function makeCatchUp({ store, streams, metrics, pending, onLost, onLive, onFailure }: CatchUpParts) {
  const withPermit = makePermits(PAGES_AT_ONCE);

  /** One read at a time for the streams of an account. */
  function oneAtATime<T>(stream: Stream, act: () => Promise<T>): Promise<T> {
    const entry = streams.find(stream.account);
    const read = (entry?.reading ?? Promise.resolve()).then(act);
    // Without the page, which would stay for as long as the account has a stream here.
    if (entry) {
      entry.reading = read.then(
        () => undefined,
        () => undefined,
      );
    }
    return read;
  }

  const readPage = (stream: Stream) =>
    oneAtATime(stream, () => {
      stream.missedEvent = false;
      return store.readPage(stream);
    });

  /** What lies beside the log too: a device may have megabytes of it, and open streams in a loop. */
  async function* readPending(stream: Stream, from: string): AsyncGenerator<PendingEvent[]> {
    const pages = pending(stream, from)[Symbol.asyncIterator]();
    while (!stream.isOver) {
      const page = await oneAtATime(stream, () => pages.next());
      if (page.done) return;
      yield page.value;
    }
  }

  /** Writes what fits; false when the socket was full before the end. The rest is read again from the new position. */
  function writePage(stream: Stream, page: Page): boolean {
    const now = performance.now();
    for (const { id, name, data } of page.entries) {
      if (!stream.writable) return false;
      stream.advance(id);
      if (name === '') continue;
      stream.writePosition(frame(name as EventName, data, id), now);
      metrics.events_delivered_total.inc({ event: name });
    }
    metrics.catchup_events.observe(page.entries.length);
    return true;
  }

  /** False: the stream is over. May be repeated when it failed in the middle: nothing is written twice. */
  async function writePending(stream: Stream, { from, written }: NonNullable<Stream['pending']>): Promise<boolean> {
    for await (const events of readPending(stream, from)) {
      for (const { name, id, data } of events) {
        if (written.has(id)) continue;
        if (!(await stream.whenWritable())) return false;
        stream.write(frame(name, data));
        written.add(id);
      }
    }
    return !stream.isOver;
  }

  /** Resolves to false when the position turned out to be lost. */
  async function follow(stream: Stream, firstPage: Page | null): Promise<boolean> {
    let page = firstPage;
    let ended = false;
    while (await stream.whenWritable()) {
      if (!ended || stream.missedEvent) {
        const reached = await withPermit(async () => {
          const next = page ?? (await readPage(stream));
          page = null;
          if (stream.isOver) return false;
          if ('lostReason' in next) return 'lost';
          return writePage(stream, next) && next.ended;
        });
        if (reached === 'lost') return false;
        ended = reached;
      } else if (stream.pending !== null) {
        if (!(await writePending(stream, stream.pending))) return true;
        stream.pending = null;
      } else {
        stream.state = 'live';
        onLive(stream);
        return true;
      }
    }
    return true;
  }

  /** Starts, unless it runs already. Never rejects: a failure is reported, and the sweep tries again. */
  return function catchUp(stream: Stream, firstPage: Page | null = null): void {
    if (stream.catchingUp || stream.isOver) return;
    stream.catchingUp = true;
    stream.state = 'behind';
    follow(stream, firstPage)
      .finally(() => {
        stream.catchingUp = false;
      })
      .then((kept) => (kept ? undefined : onLost(stream)))
      .catch((error: unknown) => onFailure(stream, error));
  };
}

export type CatchUp = ReturnType<typeof makeCatchUp>;
