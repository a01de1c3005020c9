import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** The number of random bytes fetched at once, because for one id the call costs more than the bytes. */
const POOL_BYTES = 8 * 1_024;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** Returns the result of `read` for random bytes of the pool, and erases them, so that none is used twice. */
function fromPool<T>(bytes: number, read: (from: number, to: number) => T): T {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const from = used;
  used += bytes;
  const made = read(from, used);
  pool.fill(0, from, used);
  return made;
}

/** Returns this number of random bytes, in base64url. */
export const randomId = (bytes: number): string => fromPool(bytes, (from, to) => pool.toString('base64url', from, to));

/** Returns a UUID of version 7. Such ids sort by the millisecond of their making, and randomly within it. */
export const timeOrderedId = (): string =>
  fromPool(16, (from, to) => uuidv7({ random: new Uint8Array(pool.buffer, pool.byteOffset + from, to - from) }));
