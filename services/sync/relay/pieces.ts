/** More parts than this are joined: a sender of single bytes must not fill the memory with what describes them. */
const MAX_PARTS = 64;

/** Bytes as they came, to be cut off from the front without copying. */
export class Pieces {
  #parts: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(part: Buffer): void {
    if (this.#parts.length >= MAX_PARTS) this.#parts = [Buffer.concat(this.#parts)];
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** The first `bytes`, which are there. */
  cut(bytes: number): Buffer[] {
    const out: Buffer[] = [];
    let left = bytes;
    while (left > 0) {
      const part = this.#parts[0] as Buffer;
      if (part.length <= left) {
        out.push(part);
        this.#parts.shift();
        left -= part.length;
      } else {
        out.push(part.subarray(0, left));
        this.#parts[0] = part.subarray(left);
        left = 0;
      }
    }
    this.#bytes -= bytes;
    return out;
  }
}
