import type { Stream } from './stream.ts';

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
