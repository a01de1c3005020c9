/** A little under 512 KiB (a fifth less CPU than half of it), so that a chunk with its surroundings fits an allocation of that size in Redis. */
export const CHUNK_BYTES = 508 * 1024;

/** Chunks kept for the next upload: 16 MiB. */
const MOST_KEPT = 32;

/**
 * Memory for chunks, used again and again. Parts of a body are copied into it and can be forgotten at once: kept until
 * the store has them, they outlive the quick collections, and the slow ones cost two fifths of an upload (measured).
 */
export class ChunkPool {
  readonly #kept: Buffer[] = [];

  take(): Buffer {
    return this.#kept.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
  }

  /** Only what nobody will read any more. */
  giveBack(chunk: Buffer): void {
    if (this.#kept.length < MOST_KEPT) this.#kept.push(chunk);
  }
}
