import { createHash, randomFillSync } from 'node:crypto';
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';

const PART_BYTES = 8_000_000;

/** Writes random bytes in parts, and returns their digest. */
export function writeRandom(path: string, bytes: number): string {
  const hash = createHash('sha256');
  const file = openSync(path, 'w');
  const part = Buffer.alloc(PART_BYTES);
  for (let left = bytes; left > 0; left -= part.length) {
    const some = randomFillSync(part).subarray(0, left);
    hash.update(some);
    writeSync(file, some);
  }
  closeSync(file);
  return hash.digest('hex');
}

export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
