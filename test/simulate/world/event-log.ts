import { createHash } from 'node:crypto';

/** Everything that happened, a line each. The same seed and commit give the same bytes. */
export class EventLog {
  readonly #lines: string[] = [];
  readonly #digest = createHash('sha256');

  add(line: string): void {
    this.#lines.push(line);
    this.#digest.update(`${line}\n`);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Returns the SHA-256 of all lines so far. */
  digest(): string {
    return this.#digest.copy().digest('hex');
  }
}

/** Returns a short name of bytes, to tell contents apart in a log. */
export const nameOfBytes = (bytes: Uint8Array | string): string =>
  createHash('sha1').update(bytes).digest('hex').slice(0, 10);
