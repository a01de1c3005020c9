import { AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, KEM_DHKEM_P256_HKDF_SHA256 } from 'hpke';
import { type Bytes, concat, utf8 } from './bytes.ts';

/** HPKE of RFC 9180, by a separate library, in the one suite that Baton uses. */
export const suite: CipherSuite<CryptoKey> = new CipherSuite<CryptoKey>(
  KEM_DHKEM_P256_HKDF_SHA256,
  KDF_HKDF_SHA256,
  AEAD_AES_256_GCM,
);

export const HPKE_FIRST = 0x02;
/** The bytes of `02`, the encapsulated key, and the tag. */
const HPKE_OVERHEAD = 1 + 65 + 16;
const PSK_ID = utf8('baton/1 link');
const CHECK = utf8('baton/1 check');
const PSK_BYTES = 32;

/** The result at either end of an envelope with a secret: the envelope or its content, and the secret of its check code. */
export interface WithCheck {
  readonly bytes: Bytes;
  readonly check: Bytes;
}

/** Checks the secret, because the library treats an empty one as no secret, and would then authenticate nobody. */
function pskOptions(info: Bytes, psk: Bytes) {
  if (psk.length !== PSK_BYTES) throw new TypeError('the secret of a link has 32 bytes');
  return { info, psk, pskId: PSK_ID };
}

const own = (bytes: Uint8Array): Bytes => new Uint8Array(bytes);

/** Imports a raw public key for sealing. Throws if it is not a point of the curve. */
export const readEnc = (raw: Uint8Array): Promise<CryptoKey> => suite.DeserializePublicKey(raw);

/** Seals as `02 || enc || ciphertext`. */
export async function hpkeSeal(to: CryptoKey, info: Bytes, plain: Bytes): Promise<Bytes> {
  const { encapsulatedSecret, ciphertext } = await suite.Seal(to, plain, { info });
  return concat(Uint8Array.of(HPKE_FIRST), encapsulatedSecret, ciphertext);
}

function split(envelope: Bytes): [enc: Bytes, ciphertext: Bytes] | null {
  if (envelope[0] !== HPKE_FIRST || envelope.length < HPKE_OVERHEAD) return null;
  return [envelope.subarray(1, 66), envelope.subarray(66)];
}

/** Opens an envelope; null if it was not sealed to this pair with this `info`. */
export async function hpkeOpen(pair: CryptoKeyPair, info: Bytes, envelope: Bytes): Promise<Bytes | null> {
  const [enc, ciphertext] = split(envelope) ?? [];
  if (enc === undefined || ciphertext === undefined) return null;
  try {
    return own(await suite.Open(pair, enc, ciphertext, { info }));
  } catch {
    return null;
  }
}

/** Seals in PSK mode: only a holder of the secret can make such an envelope. */
export async function pskSeal(to: CryptoKey, info: Bytes, psk: Bytes, plain: Bytes): Promise<WithCheck> {
  const { encapsulatedSecret, ctx } = await suite.SetupSender(to, pskOptions(info, psk));
  const ciphertext = await ctx.Seal(plain);
  const check = own(await ctx.Export(CHECK, PSK_BYTES));
  return { bytes: concat(Uint8Array.of(HPKE_FIRST), encapsulatedSecret, ciphertext), check };
}

/** Opens an envelope; null if it was not made with this secret, for this pair and this `info`. */
export async function pskOpen(
  pair: CryptoKeyPair,
  info: Bytes,
  psk: Bytes,
  envelope: Bytes,
): Promise<WithCheck | null> {
  const options = pskOptions(info, psk);
  const [enc, ciphertext] = split(envelope) ?? [];
  if (enc === undefined || ciphertext === undefined) return null;
  try {
    const ctx = await suite.SetupRecipient(pair, enc, options);
    const bytes = own(await ctx.Open(ciphertext));
    return { bytes, check: own(await ctx.Export(CHECK, PSK_BYTES)) };
  } catch {
    return null;
  }
}
