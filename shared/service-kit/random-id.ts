import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** As many random bytes as are asked for at once: for one id the call costs more than the bytes. */
const POOL_BYTES = 8 * 1_024;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** What `read` makes of so many random bytes of the pool, which are gone afterwards: none is used twice. */
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

/** So many random bytes, base64url. */
export const randomId = (bytes: number): string => fromPool(bytes, (from, to) => pool.toString('base64url', from, to));

/** UUID version 7: ids that sort by the millisecond in which they were made, and by chance within it. */
export const timeOrderedId = (): string =>
  fromPool(16, (from, to) => uuidv7({ random: new Uint8Array(pool.buffer, pool.byteOffset + from, to - from) }));
