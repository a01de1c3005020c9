import type { Hash } from '../api.ts';

/** Returns the first 32 bits of the fractional parts of roots of the first primes (FIPS 180-4, sections 4.2.2 and 5.3.3). */
function rootsOf(count: number, power: number): Int32Array {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate += 1) {
    let isPrime = true;
    for (let by = 2; by * by <= candidate; by += 1) isPrime &&= candidate % by !== 0;
    const root = candidate ** power;
    if (isPrime) found.push(((root - Math.floor(root)) * 2 ** 32) | 0);
  }
  return Int32Array.from(found);
}

const rotated = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** Makes a SHA-256 in JavaScript (FIPS 180-4), because WebCrypto takes only data that is whole in memory. */
export function scriptSha256(): Hash {
  const constants = rootsOf(64, 1 / 3);
  const state = rootsOf(8, 1 / 2);
  const words = new Int32Array(64);
  const block = new Uint8Array(64);
  const view = new DataView(block.buffer);
  let filled = 0;
  let length = 0;

  function compress(from: DataView, at: number): void {
    for (let i = 0; i < 16; i += 1) words[i] = from.getInt32(at + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const w15 = words[i - 15] as number;
      const w2 = words[i - 2] as number;
      const s0 = rotated(w15, 7) ^ rotated(w15, 18) ^ (w15 >>> 3);
      const s1 = rotated(w2, 17) ^ rotated(w2, 19) ^ (w2 >>> 10);
      words[i] = ((words[i - 16] as number) + s0 + (words[i - 7] as number) + s1) | 0;
    }
    let a = state[0] as number;
    let b = state[1] as number;
    let c = state[2] as number;
    let d = state[3] as number;
    let e = state[4] as number;
    let f = state[5] as number;
    let g = state[6] as number;
    let h = state[7] as number;
    for (let i = 0; i < 64; i += 1) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (constants[i] as number) + (words[i] as number)) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] = (state[0] as number) + a;
    state[1] = (state[1] as number) + b;
    state[2] = (state[2] as number) + c;
    state[3] = (state[3] as number) + d;
    state[4] = (state[4] as number) + e;
    state[5] = (state[5] as number) + f;
    state[6] = (state[6] as number) + g;
    state[7] = (state[7] as number) + h;
  }

  function update(bytes: Uint8Array): void {
    length += bytes.length;
    const all = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    while (at < bytes.length) {
      if (filled === 0 && bytes.length - at >= 64) {
        compress(all, at);
        at += 64;
        continue;
      }
      const part = bytes.subarray(at, at + 64 - filled);
      block.set(part, filled);
      filled = (filled + part.length) & 63;
      at += part.length;
      if (filled === 0) compress(view, 0);
    }
  }

  return {
    update,
    hex() {
      const bits = BigInt(length * 8);
      update(Uint8Array.of(0x80));
      while (filled !== 56) update(new Uint8Array(1));
      view.setBigUint64(56, bits);
      compress(view, 0);
      return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
    },
  };
}
