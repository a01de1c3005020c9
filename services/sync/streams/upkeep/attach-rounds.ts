import type { LocalStreams } from '../local-streams.ts';
import type { Stream } from '../stream/stream.ts';

/**
 * Yields one stream after the other, undefined when there is none. Each goes to the end, behind those that came
 * meanwhile. Otherwise, when streams come faster than they are swept, old streams would never get their turn.
 */
export function* roundAndRound(streams: Pick<LocalStreams, 'all' | 'toEnd'>): Generator<Stream | undefined> {
  for (;;) {
    if (streams.all.size === 0) yield undefined;
    for (const stream of streams.all.values()) {
      streams.toEnd(stream);
      yield stream;
    }
  }
}

/** Waits until each of the streams that are open at one moment has been attached since, or is gone from the store. */
export class AttachRounds {
  readonly #rounds = new Set<{ left: Set<Stream>; done: () => void }>();

  /** Begins a round; resolves when the last of its streams is settled. */
  begin(streams: Iterable<Stream>): Promise<void> {
    const left = new Set(streams);
    if (left.size === 0) return Promise.resolve();
    return new Promise((done) => this.#rounds.add({ left, done }));
  }

  /** Settles a stream that was attached, or whose end the store knows. */
  settle(stream: Stream): void {
    for (const round of this.#rounds) {
      round.left.delete(stream);
      if (round.left.size > 0) continue;
      this.#rounds.delete(round);
      round.done();
    }
  }
}
