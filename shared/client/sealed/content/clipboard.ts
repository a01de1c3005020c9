import { checkMaySeal, contentKey, type Keyring } from '../keyring.ts';
import { aesKey, aesOpen, aesSeal, NONCE_BYTES, TAG_BYTES } from '../primitives/aes.ts';
import {
  type Bytes,
  concat,
  isSame,
  randomBytes,
  textOf,
  toBase64url,
  u32,
  utf8,
  viewOf,
} from '../primitives/bytes.ts';
import { sha256 } from '../primitives/hkdf.ts';
import { HPKE_FIRST, hpkeOpen } from '../primitives/hpke.ts';
import { parts } from '../primitives/parts.ts';
import { sealedError } from '../sealed-error.ts';
import { type Letter, letterParts, makeBody, type Opened, readBody } from './body.ts';
import { envelopeIn, epochIn, openUnder, sealUnder } from './envelope.ts';

const CLIPBOARD_BYTES = 65_536;
const SEALED_BYTES = 81_920;
const KEY_BYTES = 32;
/** The size of the entry's key under the account key: nonce, key and tag. */
const ACCOUNT_WRAP = NONCE_BYTES + KEY_BYTES + TAG_BYTES;
const HINT_BYTES = 8;
/** The size of the entry's key for one device: the beginning of its key's hash, the encapsulated key, key and tag. */
const DEVICE_WRAP = HINT_BYTES + 65 + KEY_BYTES + TAG_BYTES;
const AGE_MS = 3_600_000;

/** A clipboard that was opened. */
export interface OpenedClipboard extends Opened {
  readonly text: string;
}

// Plain text has tab, line feed and carriage return, and no other control characters.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;
const clean = (text: string): string => text.replaceAll(CONTROLS, '');

const letterFrom = (from: string): Letter => ({ label: 'baton/1 clip', from, target: '' });

const keyInfo = (keyring: Keyring, from: string, epoch: number): Bytes =>
  parts([...letterParts(keyring, { ...letterFrom(from), label: 'baton/1 clip key' }), u32(epoch)]);

const hintOf = async (enc: Bytes): Promise<Bytes> => (await sha256(enc)).slice(0, HINT_BYTES);

/** Wraps the key of the entry for the members. Guests have no part in the clipboard. */
async function wrapOf(keyring: Keyring, epoch: number, secret: Bytes): Promise<Bytes> {
  const nonce = randomBytes(NONCE_BYTES);
  const info = keyInfo(keyring, keyring.device_id, epoch);
  return concat(nonce, await aesSeal(await contentKey(keyring, epoch, 'clip'), nonce, info, secret));
}

/** Opens the key of the entry with the wrap for the members, or for this device, as the format has it. */
async function unwrap(keyring: Keyring, from: string, epoch: number, wraps: Bytes): Promise<Bytes> {
  const info = keyInfo(keyring, from, epoch);
  const first = wraps.length % DEVICE_WRAP;
  if (first !== 0 && first !== ACCOUNT_WRAP) throw sealedError('cannot_open');
  if (first === ACCOUNT_WRAP && keyring.accountKeys.length > 0) {
    const key = await contentKey(keyring, epoch, 'clip');
    const secret = await aesOpen(key, wraps.slice(0, NONCE_BYTES), info, wraps.slice(NONCE_BYTES, ACCOUNT_WRAP));
    if (secret === null) throw sealedError('cannot_open');
    return secret;
  }
  const own = new Uint8Array(await crypto.subtle.exportKey('raw', keyring.keys.enc.publicKey));
  const hint = await hintOf(own);
  for (let at = first; at < wraps.length; at += DEVICE_WRAP) {
    if (!isSame(wraps.subarray(at, at + HINT_BYTES), hint)) continue;
    const envelope = concat(Uint8Array.of(HPKE_FIRST), wraps.subarray(at + HINT_BYTES, at + DEVICE_WRAP));
    const secret = await hpkeOpen(keyring.keys.enc, info, envelope);
    if (secret !== null && secret.length === KEY_BYTES) return secret;
  }
  throw sealedError('cannot_open');
}

const aadOf = async (keyring: Keyring, letter: Letter, epoch: number, wraps: Bytes): Promise<Bytes> =>
  parts([...letterParts(keyring, letter), u32(epoch), await sha256(wraps)]);

/**
 * Seals a text for the clipboard of the account: `sealed` of `PUT /api/clipboard`. The entry has its own key, wrapped for
 * the members: `envelope || wraps || length of the wraps, u32`. Throws `not_a_member` for a guest.
 */
export async function sealClipboard(keyring: Keyring, { text, t }: { text: string; t: number }): Promise<string> {
  checkMaySeal(keyring);
  const content = utf8(clean(text));
  if (content.length > CLIPBOARD_BYTES) throw sealedError('too_long');
  const { epoch } = keyring.ring.body;
  const letter = letterFrom(keyring.device_id);
  const secret = randomBytes(KEY_BYTES);
  const wraps = await wrapOf(keyring, epoch, secret);
  const body = await makeBody(keyring, letter, { content, t });
  const envelope = await sealUnder(await aesKey(secret), epoch, await aadOf(keyring, letter, epoch, wraps), body);
  const sealed = concat(envelope, wraps, u32(wraps.length));
  if (sealed.length > SEALED_BYTES) throw sealedError('too_long');
  return toBase64url(sealed);
}

/**
 * Opens the clipboard. `newest` is the `t` of the newest entry of this sender that was opened here. An older entry, and one
 * that is more than an hour away from `now`, is `too_old`.
 */
export async function openClipboard(
  keyring: Keyring,
  { sealed, from, now, newest = 0 }: { sealed: string; from: string; now: number; newest?: number },
): Promise<OpenedClipboard> {
  const bytes = envelopeIn(sealed);
  const epoch = epochIn(bytes);
  const end = bytes.length - 4 - viewOf(bytes).getUint32(bytes.length - 4);
  if (end < 0) throw sealedError('cannot_open');
  const wraps = bytes.slice(end, -4);
  const letter = letterFrom(from);
  const key = await aesKey(await unwrap(keyring, from, epoch, wraps));
  const envelope = bytes.slice(0, end);
  epochIn(envelope);
  const body = await openUnder(key, await aadOf(keyring, letter, epoch, wraps), envelope);
  const { content, ...opened } = await readBody(keyring, letter, body);
  const text = textOf(content);
  if (text === null || content.length > CLIPBOARD_BYTES || epoch !== opened.epoch) throw sealedError('cannot_open');
  if (Math.abs(now - opened.t) > AGE_MS || opened.t < newest) throw sealedError('too_old');
  return { ...opened, text: clean(text) };
}
