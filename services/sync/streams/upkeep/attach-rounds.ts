import type { Stream } from '../stream/stream.ts';

/** One stream after the other, those that come meanwhile too; undefined where there is none. */
export function* roundAndRound(streams: ReadonlyMap<string, Stream>): Generator<Stream | undefined> {
  for (;;) {
    if (streams.size === 0) yield undefined;
    yield* streams.values();
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
