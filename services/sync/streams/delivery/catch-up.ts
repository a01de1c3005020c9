import type { EventName } from '../../../../shared/contract/events.ts';
import type { ResetReason } from '../../../../shared/contract/modules/stream.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { frame } from '../stream/frames.ts';
import type { LocalStreams } from '../local-streams.ts';
import type { PendingFrom } from '../stream/log-position.ts';
import { makeLanes } from '../../lanes.ts';
import type { Page, StreamStore } from '../store.ts';
import type { Stream } from '../stream/stream.ts';

/** Pages in memory at once over all streams of a replica: at most 16 MiB. */
const PAGES_AT_ONCE = 64;

/** An event that is sent again. It has no id, because its place in the log is before the position of the stream. */
export interface PendingEvent {
  name: EventName;
  /** The id of the message or transfer. */
  id: string;
  /** JSON text. */
  data: string;
}

interface CatchUpParts {
  store: Pick<StreamStore, 'readPage'>;
  streams: LocalStreams;
  metrics: Metrics;
  /** Reads what the stream's device has not taken yet and does not get from the log, page by page. */
  pending: (stream: Stream, position: string) => AsyncIterable<PendingEvent[]>;
  /** Called when the log no longer has the position. Never rejects. */
  onLost: (stream: Stream) => Promise<void>;
  onLive: (stream: Stream) => void;
  onFailure: (stream: Stream, error: unknown) => void;
}

/**
 * Brings a stream up to date: reads the log from its position page by page, as the socket takes more, until a page
 * reached the end AND no event was missed since that page was requested. From then on every event is announced to a
 * live stream, and none can be lost in between.
 */
export class CatchUp {
  readonly #parts: CatchUpParts;
  readonly #pages = makeLanes(PAGES_AT_ONCE);

  constructor(parts: CatchUpParts) {
    this.#parts = parts;
  }

  /**
   * Starts the catch-up of a stream that has just become `catchingUp`. Most streams that come back are at the end, and
   * are live at once. After a failure the stream is behind.
   */
  start(stream: Stream, firstPage: Page | null = null): void {
    if (firstPage === null || !this.#isAllOf(firstPage, stream)) return void this.#catchUp(stream, firstPage);
    this.#parts.metrics.catchup_events.observe(0);
    this.#caughtUp(stream);
  }

  /**
   * Returns whether the stream need not wait: the page has nothing to read, nothing was missed since, and nothing is
   * pending.
   */
  #isAllOf({ entries, ended }: Page, { position, pending, socket }: Stream): boolean {
    return ended && entries.length === 0 && !position.hasMissed && pending === null && socket.writable;
  }

  #caughtUp(stream: Stream): void {
    if (stream.state.go('caughtUp')) this.#parts.onLive(stream);
  }

  /** Never rejects. */
  async #catchUp(stream: Stream, firstPage: Page | null): Promise<void> {
    const { onLost, onFailure } = this.#parts;
    try {
      if (await this.#follow(stream, firstPage)) this.#caughtUp(stream);
      else await onLost(stream);
    } catch (error) {
      stream.state.go('catchUpFailed');
      onFailure(stream, error);
    }
  }

  /** Resolves to true when the end was reached or the stream is over, to false when the position is lost. */
  async #follow(stream: Stream, firstPage: Page | null): Promise<boolean> {
    let page = firstPage;
    let ended = false;
    while (await stream.socket.whenWritable()) {
      if (!ended || stream.position.hasMissed) {
        const reached = await this.#takePage(stream, page);
        page = null;
        if (reached === 'lost') return false;
        ended = reached === 'end';
      } else if (stream.pending !== null) {
        if (await this.#writePending(stream, stream.pending)) stream.pendingWritten();
      } else return true;
    }
    return true;
  }

  #takePage(stream: Stream, given: Page | null): Promise<'lost' | 'end' | 'more'> {
    return this.#pages.run('', async () => {
      const page = given ?? (await this.#readPage(stream));
      if (stream.isOver) return 'more';
      if ('lostReason' in page) return 'lost';
      return this.#writePage(stream, page) && page.ended ? 'end' : 'more';
    });
  }

  #readPage(stream: Stream): Promise<Page | { lostReason: ResetReason }> {
    return this.#oneAtATime(stream, () => {
      stream.position.startPage();
      return this.#parts.store.readPage(stream);
    });
  }

  /**
   * Writes what fits; returns false when the socket was full before the end. The rest is read again from the new
   * position.
   */
  #writePage(stream: Stream, page: Page): boolean {
    const { metrics } = this.#parts;
    const now = performance.now();
    for (const { id, name, data } of page.entries) {
      if (!stream.socket.writable) return false;
      stream.position.advance(id);
      if (name === '') continue;
      stream.writePosition(frame(name as EventName, data, id), now);
      metrics.events_delivered_total.inc({ event: name });
    }
    metrics.catchup_events.observe(page.entries.length);
    return true;
  }

  /**
   * Writes what is pending; resolves to false when the stream is over. May be repeated after a failure in the middle,
   * because it writes nothing twice.
   */
  async #writePending(stream: Stream, { position, written }: PendingFrom): Promise<boolean> {
    for await (const events of this.#readPending(stream, position)) {
      for (const { name, id, data } of events) {
        if (written.has(id)) continue;
        if (!(await stream.socket.whenWritable())) return false;
        stream.socket.write(frame(name, data));
        written.add(id);
      }
    }
    return !stream.isOver;
  }

  /** Reads what is pending one page at a time, because a device may have megabytes of it and open streams in a loop. */
  async *#readPending(stream: Stream, position: string): AsyncGenerator<PendingEvent[]> {
    const pages = this.#parts.pending(stream, position)[Symbol.asyncIterator]();
    while (!stream.isOver) {
      const page = await this.#oneAtATime(stream, () => pages.next());
      if (page.done) return;
      yield page.value;
    }
  }

  /** Runs one read at a time for the streams of an account. */
  #oneAtATime<T>(stream: Stream, act: () => Promise<T>): Promise<T> {
    const entry = this.#parts.streams.find(stream.account);
    const read = (entry?.reading ?? Promise.resolve()).then(act);
    // The promise drops the page, which would otherwise stay in memory as long as the account has a stream here.
    if (entry) {
      entry.reading = read.then(
        () => undefined,
        () => undefined,
      );
    }
    return read;
  }
}
