import { createPrivateKey, type KeyObject } from 'node:crypto';

/** Reads the private key in a PEM text (PKCS #8), for RS256 or ES256. Throws, without quoting the text, if there is none. */
export function readSigningKey(pem: string, algorithm: 'RS256' | 'ES256', of: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    const fits =
      algorithm === 'RS256' ? key.asymmetricKeyType === 'rsa' : key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    if (fits) return key;
  } catch {
    // The error is thrown below.
  }
  throw new Error(`The key of ${of} is none for ${algorithm}`);
}
