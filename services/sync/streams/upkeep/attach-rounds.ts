import type { LocalStreams } from '../local-streams.ts';
import type { Stream } from '../stream/stream.ts';

/**
 * One stream after the other, each of which goes to the end, behind those that came meanwhile: else, where streams come faster
 * than they are swept, those that have been here for long would never have their turn. Undefined where there is none.
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

  /** Resolves when the last of them is settled. */
  begin(streams: Iterable<Stream>): Promise<void> {
    const left = new Set(streams);
    if (left.size === 0) return Promise.resolve();
    return new Promise((done) => this.#rounds.add({ left, done }));
  }

  /** The stream was attached, or its end is known. */
  settle(stream: Stream): void {
    for (const round of this.#rounds) {
      round.left.delete(stream);
      if (round.left.size > 0) continue;
      this.#rounds.delete(round);
      round.done();
    }
  }
}
