import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

/** As many random bytes as are asked for at once: for one id the call costs more than the bytes. */
const POOL_BYTES = 8 * 1_024;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** What `read` makes of so many random bytes, which are gone afterwards: none is used twice. */
function fromPool<T>(bytes: number, read: (random: Buffer) => T): T {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + bytes);
  used += bytes;
  const made = read(random);
  random.fill(0);
  return made;
}

/** So many random bytes, base64url. */
export const randomId = (bytes: number): string => fromPool(bytes, (random) => random.toString('base64url'));

/** UUID version 7: ids that sort by the millisecond in which they were made, and by chance within it. */
export const timeOrderedId = (): string => fromPool(16, (random) => uuidv7({ random }));
