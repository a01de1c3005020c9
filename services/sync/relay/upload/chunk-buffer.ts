/** Smaller parts are joined, because each costs some hundred bytes, and a client chooses how small they are. */
const [SMALL_BYTES, JOINED_BYTES] = [8 * 1024, 64 * 1024];

/** Bytes that go to the store at once, in the parts in which they came. */
interface NextChunk {
  parts: readonly Buffer[];
  bytes: number;
}

/** Bytes of a body that have come and wait to become a chunk. */
export class ChunkBuffer {
  readonly #chunkBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Buffer in which small parts are joined, and how far it is filled. Its filled piece is the last of the parts. */
  #joined: Buffer | null = null;
  #joinedBytes = 0;

  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there is a chunk of full size. */
  get isWhole(): boolean {
    return this.#bytes >= this.#chunkBytes;
  }

  add(part: Buffer): void {
    this.#bytes += part.length;
    const fits = this.#joined !== null && this.#joinedBytes + part.length <= this.#joined.length;
    if (part.length < SMALL_BYTES || fits) return this.#join(part);
    this.#joined = null;
    // The part stays in one piece, unless the window is tiny.
    for (let at = 0; at < part.length; at += this.#chunkBytes) {
      this.#parts.push(part.subarray(at, at + this.#chunkBytes));
    }
  }

  /** Size of the next chunk, which is everything when that is less than a whole chunk. */
  get nextBytes(): number {
    return this.#next().bytes;
  }

  take(): NextChunk {
    const { count, bytes } = this.#next();
    const parts = this.#parts.splice(0, count);
    if (this.#parts.length === 0) this.#joined = null;
    this.#bytes -= bytes;
    return { parts, bytes };
  }

  clear(): void {
    this.#joined = null;
    this.#parts = [];
    this.#bytes = 0;
  }

  #join(part: Buffer): void {
    for (let at = 0; at < part.length; ) {
      if (this.#joined === null || this.#joinedBytes === this.#joined.length) {
        this.#joined = Buffer.allocUnsafeSlow(Math.min(JOINED_BYTES, this.#chunkBytes));
        this.#joinedBytes = 0;
        this.#parts.push(this.#joined);
      }
      const bytes = part.copy(this.#joined, this.#joinedBytes, at);
      at += bytes;
      this.#joinedBytes += bytes;
      this.#parts[this.#parts.length - 1] = this.#joined.subarray(0, this.#joinedBytes);
    }
  }

  #next(): { count: number; bytes: number } {
    let [count, bytes] = [0, 0];
    while (bytes < this.#chunkBytes && count < this.#parts.length) bytes += (this.#parts[count++] as Buffer).length;
    return { count, bytes };
  }
}
