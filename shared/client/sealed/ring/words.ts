import type { DeviceKeys } from '../keys/device-keys.ts';
import { type Bytes, fromBase64url, toBase64url, u64 } from '../primitives/bytes.ts';
import { hkdf } from '../primitives/hkdf.ts';
import { suite } from '../primitives/hpke.ts';
import { hasSigned, sign } from '../primitives/signature.ts';
import { pointIn } from '../keys/device-keys.ts';
import { sealedError } from '../sealed-error.ts';
import { hashOf, type Member, type Ring } from './ring.ts';

const LABEL = 'baton/1 words';
const STRENGTH = 256;

/** Loads the list of words on demand, because it is 6 KB. */
async function wordList() {
  const [bip39, { wordlist }] = await Promise.all([
    import('@scure/bip39'),
    import('@scure/bip39/wordlists/english.js'),
  ]);
  return { ...bip39, wordlist };
}

/** Makes 24 words that recover an account when every device is lost. They are shown once and stored nowhere. */
export async function makeWords(): Promise<string> {
  const { generateMnemonic, wordlist } = await wordList();
  return generateMnemonic(wordlist, STRENGTH);
}

/** Makes the ECDSA pair with the same scalar. RFC 9180 defines how to derive a pair, and WebCrypto does not. */
async function signingPair(secret: Bytes): Promise<CryptoKeyPair> {
  const { privateKey } = await suite.DeriveKeyPair(secret, true);
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', privateKey);
  const curve = { name: 'ECDSA', namedCurve: 'P-256' };
  const half = { kty: 'EC', crv: 'P-256', x, y };
  const [own, shown] = await Promise.all([
    crypto.subtle.importKey('jwk', { ...half, d }, curve, false, ['sign']),
    crypto.subtle.importKey('jwk', half, curve, true, ['verify']),
  ]);
  return { privateKey: own, publicKey: shown };
}

/** Derives the keys of these words; case and spaces do not matter. Throws `bad_words`. */
export async function keysOfWords(words: string): Promise<DeviceKeys> {
  const { mnemonicToEntropy, wordlist } = await wordList();
  const typed = words.normalize('NFKD').trim().toLowerCase().split(/\s+/);
  if (typed.length !== 24) throw sealedError('bad_words');
  let entropy: Bytes;
  try {
    entropy = new Uint8Array(mnemonicToEntropy(typed.join(' '), wordlist));
  } catch (cause) {
    throw sealedError('bad_words', cause);
  }
  const [enc, sig] = await Promise.all([
    suite.DeriveKeyPair(await hkdf(entropy, 'baton/1 words enc'), false),
    signingPair(await hkdf(entropy, 'baton/1 words sig')),
  ]);
  return { enc: { ...enc }, sig };
}

/** The words' statement about the rings of the account. */
export interface Statement {
  /** The ring from which recovery walks: the first one of the account, or the ring `n` itself in a renewed statement. */
  readonly first: Ring;
  /** The number of the ring that is in force when the words sign. */
  readonly n: number;
}

const said = ({ first, n }: Statement) => [LABEL, first.body.service, first.body.user_id, first.hash, u64(n)];

/** Signs a statement with the words, when they are made or renewed. */
export const signStatement = async (statement: Statement, { sig }: DeviceKeys): Promise<string> =>
  toBase64url(await sign(sig.privateKey, said(statement)));

/** Tells whether these words signed this statement. */
export async function hasStated(text: string, statement: Statement, { sig }: Pick<Member, 'sig'>): Promise<boolean> {
  const [signature, key] = [fromBase64url(text), pointIn(sig)];
  if (signature === null || key === null || hashOf(statement.first) === '') return false;
  return hasSigned(key, signature, said(statement));
}
