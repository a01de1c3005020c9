import type { PublicKeys } from '../keys/device-keys.ts';
import { pointIn } from '../keys/device-keys.ts';
import { type Bytes, concat, fromBase64url, isSame, randomBytes, toBase64url } from '../primitives/bytes.ts';
import { sha256 } from '../primitives/hkdf.ts';
import { parts } from '../primitives/parts.ts';
import { sealedError } from '../sealed-error.ts';

const SECRET_BYTES = 16;
const FINGERPRINT_BYTES = 16;
/** 128 random bits. */
const ID = /^[\w-]{22}$/;
const KEY = /^1\.([\w-]{43})$/;

/** What a code says of keys: which ones, and the secret that is for whoever saw the code. */
export interface LinkKey {
  readonly fingerprint: Bytes;
  readonly secret: Bytes;
}

/** A code that was read. */
export interface LinkCode {
  readonly request_id: string;
  readonly approval_code: string;
  /** Null: the device will have no keys. Say so before it is let in. */
  readonly key: LinkKey | null;
}

/** The secret of one code. */
export const makeLinkSecret = (): Bytes => randomBytes(SECRET_BYTES);

/** The public keys as everything here signs or compares them. Throws where they are none. */
export function keyBytes({ enc, sig }: PublicKeys): Bytes {
  const points = [pointIn(enc), pointIn(sig)];
  if (points[0] === null || points[1] === null) throw sealedError('other_keys');
  return parts(points as Bytes[]);
}

/** The fingerprint that stands in a code. */
export const fingerprintOfKeys = async (keys: PublicKeys): Promise<Bytes> =>
  (await sha256(keyBytes(keys))).slice(0, FINGERPRINT_BYTES);

/** `1.` and 43 characters: what follows `#k=` in a link. */
export async function linkKeyText(keys: PublicKeys, secret: Bytes): Promise<string> {
  if (secret.length !== SECRET_BYTES) throw new TypeError('the secret of a code has 16 bytes');
  return `1.${toBase64url(concat(await fingerprintOfKeys(keys), secret))}`;
}

/** What a code is made of. */
export interface LinkParts {
  readonly request_id: string;
  readonly approval_code: string;
  /** As {@link linkKeyText} makes it. */
  readonly key: string;
}

/** Nothing that the service answers gets into a link unless it is exactly an id. */
function checkParts({ request_id, approval_code, key }: LinkParts): void {
  if (!ID.test(request_id) || !ID.test(approval_code) || !KEY.test(key)) throw sealedError('bad_code');
}

/** The link for a QR code. The device makes it of its own origin, never of what the service says. */
export function makeLink(origin: string, code: LinkParts): string {
  checkParts(code);
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) throw sealedError('other_origin');
  return `${origin}/link?r=${code.request_id}&c=${code.approval_code}#k=${code.key}`;
}

/** The same to be typed or pasted: `REQUEST.CODE.KEY`. */
export function makeLinkText(code: LinkParts): string {
  checkParts(code);
  return `${code.request_id}.${code.approval_code}.${code.key.slice(2)}`;
}

function linkKeyIn(encoded: string): LinkKey {
  const bytes = fromBase64url(encoded);
  if (bytes?.length !== FINGERPRINT_BYTES + SECRET_BYTES) throw sealedError('bad_code');
  return { fingerprint: bytes.slice(0, FINGERPRINT_BYTES), secret: bytes.slice(FINGERPRINT_BYTES) };
}

const TYPED = /^([\w-]{22})\.([\w-]{22})(?:\.([\w-]{43}))?$/;
const LINK = /^(https?:\/\/[^/?#\s]+)\/link\?r=([\w-]{22})&c=([\w-]{22})(?:#k=1\.([\w-]{43}))?$/;

/**
 * Reads what a QR code says, or what was typed. Only a link of one of these origins is taken, and only the exact pattern: throws
 * `other_origin` or `bad_code`.
 */
export function readLinkCode(text: string, origins: readonly string[]): LinkCode {
  const [, request_id, approval_code, key] = TYPED.exec(text.trim()) ?? [];
  if (request_id !== undefined && approval_code !== undefined) {
    return { request_id, approval_code, key: key === undefined ? null : linkKeyIn(key) };
  }
  const [, origin, asked, code, fragment] = LINK.exec(text.trim()) ?? [];
  if (origin === undefined || asked === undefined || code === undefined) throw sealedError('bad_code');
  if (!origins.includes(origin)) throw sealedError('other_origin');
  return { request_id: asked, approval_code: code, key: fragment === undefined ? null : linkKeyIn(fragment) };
}

/** Throws `other_keys` unless these are the keys that the code was made for. */
export async function checkKeys(keys: PublicKeys, { fingerprint }: LinkKey): Promise<void> {
  if (!isSame(await fingerprintOfKeys(keys), fingerprint)) throw sealedError('other_keys');
}
