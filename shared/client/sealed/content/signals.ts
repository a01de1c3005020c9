import { aesKey, aesOpen, aesSeal, NONCE_BYTES } from '../primitives/aes.ts';
import { type Bytes, concat, fromBase64url, randomBytes, textOf, toBase64url, utf8 } from '../primitives/bytes.ts';
import { hkdf } from '../primitives/hkdf.ts';
import { parts } from '../primitives/parts.ts';
import { sealedError } from '../sealed-error.ts';

/** The signals of one device for one transfer. */
export interface SignalPath {
  readonly transferId: string;
  /** The id of the device that sends. */
  readonly from: string;
}

const keyOf = async (key: Bytes, { from, transferId }: SignalPath): Promise<CryptoKey> =>
  aesKey(await hkdf(key, parts(['signal', from, transferId])));

const aadOf = ({ from, transferId }: SignalPath): Bytes => parts(['baton/1 signal', from, transferId]);

/** Seals a signal between the two devices of a transfer, so that nobody between them can answer for one of them. */
export async function sealSignal(key: Bytes, path: SignalPath, text: string): Promise<string> {
  const nonce = randomBytes(NONCE_BYTES);
  return toBase64url(concat(nonce, await aesSeal(await keyOf(key, path), nonce, aadOf(path), utf8(text))));
}

/** Opens a signal of this device and transfer. */
export async function openSignal(key: Bytes, path: SignalPath, sealed: string): Promise<string> {
  const bytes = fromBase64url(sealed) ?? new Uint8Array();
  const nonce = bytes.slice(0, NONCE_BYTES);
  const plain = await aesOpen(await keyOf(key, path), nonce, aadOf(path), bytes.slice(NONCE_BYTES));
  const text = plain === null ? null : textOf(plain);
  if (text === null) throw sealedError('cannot_open');
  return text;
}
