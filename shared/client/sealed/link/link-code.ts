import type { PublicKeys } from '../keys/device-keys.ts';
import { pointIn } from '../keys/device-keys.ts';
import { type Bytes, concat, fromBase64url, isSame, randomBytes, toBase64url } from '../primitives/bytes.ts';
import { sha256 } from '../primitives/hkdf.ts';
import { parts } from '../primitives/parts.ts';
import { sealedError } from '../sealed-error.ts';

const SECRET_BYTES = 16;
const FINGERPRINT_BYTES = 16;
/** An id: 128 random bits. */
const ID = /^[\w-]{22}$/;
const KEY = /^1\.([\w-]{43})$/;

/** The key part of a code: the fingerprint of the keys, and the secret for anybody who saw the code. */
export interface LinkKey {
  readonly fingerprint: Bytes;
  readonly secret: Bytes;
}

/** A code that was read. */
export interface LinkCode {
  readonly request_id: string;
  readonly approval_code: string;
  /** Null: the device will have no keys. Tell the user before it is let in. */
  readonly key: LinkKey | null;
}

/** Makes the secret of one code. */
export const makeLinkSecret = (): Bytes => randomBytes(SECRET_BYTES);

/** Returns the public keys in the form that is signed and compared. Throws if they are not keys. */
export function keyBytes({ enc, sig }: PublicKeys): Bytes {
  const points = [pointIn(enc), pointIn(sig)];
  if (points[0] === null || points[1] === null) throw sealedError('other_keys');
  return parts(points as Bytes[]);
}

/** Returns the fingerprint that a code contains. */
export const fingerprintOfKeys = async (keys: PublicKeys): Promise<Bytes> =>
  (await sha256(keyBytes(keys))).slice(0, FINGERPRINT_BYTES);

/** Returns `1.` and 43 characters, which follow `#k=` in a link. */
export async function linkKeyText(keys: PublicKeys, secret: Bytes): Promise<string> {
  if (secret.length !== SECRET_BYTES) throw new TypeError('the secret of a code has 16 bytes');
  return `1.${toBase64url(concat(await fingerprintOfKeys(keys), secret))}`;
}

/** The parts of a code. */
export interface LinkParts {
  readonly request_id: string;
  readonly approval_code: string;
  /** As {@link linkKeyText} makes it. */
  readonly key: string;
}

/** Throws unless every part is exactly an id or a key, so that nothing else from the service gets into a link. */
function checkParts({ request_id, approval_code, key }: LinkParts): void {
  if (!ID.test(request_id) || !ID.test(approval_code) || !KEY.test(key)) throw sealedError('bad_code');
}

/** Makes the link for a QR code. The device uses its own origin, never one that the service names. */
export function makeLink(origin: string, code: LinkParts): string {
  checkParts(code);
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) throw sealedError('other_origin');
  return `${origin}/link?r=${code.request_id}&c=${code.approval_code}#k=${code.key}`;
}

/** Makes the code that the user types or pastes: `REQUEST.CODE.KEY`. */
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
 * Reads the text of a QR code, or typed text. It accepts only a link of one of these origins, and only the exact pattern.
 * Throws `other_origin` or `bad_code`.
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
