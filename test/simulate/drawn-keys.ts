import { createECDH, createHash } from 'node:crypto';
import type { Random } from '../chaos/random.ts';

/** The order of the group of P-256 (NIST SP 800-186, 3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const BYTES = 32;

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const bytesOf = (number: bigint): Buffer => Buffer.from(number.toString(16).padStart(2 * BYTES, '0'), 'hex');
const sha256 = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** Returns the inverse modulo the order. The order is a prime, so the inverse is the power by two less (Fermat). */
function inverseOf(number: bigint): bigint {
  let [result, square] = [1n, number % ORDER];
  for (let power = ORDER - 2n; power > 0n; power >>= 1n) {
    if (power & 1n) result = (result * square) % ORDER;
    square = (square * square) % ORDER;
  }
  return result;
}

/** Returns the point of a private number, uncompressed. */
function pointOf(number: bigint): Buffer {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(bytesOf(number));
  return curve.getPublicKey();
}

/** A key with signatures that the seed determines. Signatures of Node have random bits. */
export interface DrawnKey {
  /** The public key in the form that rings hold. */
  raw: string;
  sign: (bytes: Uint8Array) => string;
}

/** Draws a key of P-256. Its signatures are ECDSA, with a secret number that comes from the key and the bytes. */
export function drawKey(random: Random): DrawnKey {
  const seed = Buffer.from(Array.from({ length: BYTES }, () => Math.floor(random.next() * 256)));
  const secret = numberOf(sha256(seed)) % ORDER;
  return {
    raw: pointOf(secret).toString('base64url'),
    sign(bytes) {
      const digest = sha256(bytes);
      const once = numberOf(sha256(seed, digest)) % ORDER;
      const r = numberOf(pointOf(once).subarray(1, 1 + BYTES)) % ORDER;
      const s = (inverseOf(once) * ((numberOf(digest) + r * secret) % ORDER)) % ORDER;
      return Buffer.concat([bytesOf(r), bytesOf(s)]).toString('base64url');
    },
  };
}
