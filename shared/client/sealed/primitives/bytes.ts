/** Bytes in separate memory, as WebCrypto takes them. */
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

/** Encodes a number as 4 bytes, unsigned, big endian. */
export function u32(value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** Encodes a number as 8 bytes, unsigned, big endian. */
export function u64(value: number): Bytes {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(value / 2 ** 32));
  view.setUint32(4, value % 2 ** 32);
  return bytes;
}

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Reads a number; null if a JavaScript number cannot hold it. */
export function readU64(bytes: Uint8Array, at: number): number | null {
  const view = viewOf(bytes);
  const value = view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);
  return Number.isSafeInteger(value) ? value : null;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const utf8 = (text: string): Bytes => ENCODER.encode(text);

/** Decodes UTF-8; null if these bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    return DECODER.decode(bytes);
  } catch {
    return null;
  }
}

const CHUNK = 0x8000;

/** Encodes bytes as base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes base64url without padding; null for a text that is not the one spelling of some bytes. */
export function fromBase64url(text: string): Bytes | null {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return null;
  const decoded = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(decoded.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = decoded.charCodeAt(at);
  // Leftover bits, which only the last character can have, would allow a second spelling.
  return text.endsWith(toBase64url(bytes.subarray(bytes.length - (bytes.length % 3)))) ? bytes : null;
}

/** Compares in a time that does not depend on where they differ. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}

export const randomBytes = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));
