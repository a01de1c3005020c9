/** Bytes of their own memory, as WebCrypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

export function concat(...list: readonly Uint8Array[]): Bytes {
  const all = new Uint8Array(list.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const each of list) {
    all.set(each, at);
    at += each.length;
  }
  return all;
}

/** Unsigned, big endian, 4 bytes. */
export function u32(value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** Unsigned, big endian, 8 bytes. */
export function u64(value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Null for a number that no JavaScript number is. */
export function readU64(bytes: Uint8Array, at: number): number | null {
  const value = viewOf(bytes).getBigUint64(at);
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(value);
}

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

/** Null where these bytes are no UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

const CHUNK = 0x8000;

/** Base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The bytes of base64url without padding; null for a text that is not the one spelling of some bytes. */
export function fromBase64url(text: string): Bytes | null {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return null;
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
  // Bits that are left over would be a second spelling.
  return toBase64url(bytes) === text ? bytes : null;
}

/** Takes the same time wherever they differ. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}

export const randomBytes = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));
