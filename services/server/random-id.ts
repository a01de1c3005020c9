import { randomFillSync } from 'node:crypto';

/** As many random bytes as are asked for at once: for one id the call costs more than the bytes. */
const POOL_BYTES = 8 * 1_024;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** So many random bytes, base64url. None of them is used twice. */
export function randomId(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const start = used;
  used += bytes;
  const id = pool.toString('base64url', start, used);
  pool.fill(0, start, used);
  return id;
}
