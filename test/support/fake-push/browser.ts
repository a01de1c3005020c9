import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';

/*
 * The browser's side of RFC 8291 and RFC 8188. It is written from the RFCs, so that sender and receiver share no mistake.
 */

/** What a page sends to the server after it has subscribed. */
export interface BrowserKeys {
  readonly p256dh: string;
  readonly auth: string;
}

export interface Browser {
  readonly keys: BrowserKeys;
  /** Throws when the body was not made for these keys. */
  open(body: Buffer): Buffer;
}

const HEADER_BYTES = 86;
const TAG_BYTES = 16;

const derive = (secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));

/** Removes the padding (RFC 8188): the last record ends in the delimiter 2 and zeros. */
function unpadded(record: Buffer): Buffer {
  const delimiter = record.findLastIndex((byte) => byte !== 0);
  if (record[delimiter] !== 2) throw new Error('the last record does not end in the delimiter 2');
  return record.subarray(0, delimiter);
}

function decrypt(body: Buffer, own: ECDH, auth: Buffer): Buffer {
  if (body.length < HEADER_BYTES + TAG_BYTES) throw new Error('shorter than a header and a tag');
  const [salt, recordSize, keyLength] = [body.subarray(0, 16), body.readUInt32BE(16), body[20]];
  if (keyLength !== 65) throw new Error('the key id is no uncompressed point');
  const sender = body.subarray(21, HEADER_BYTES);
  const sealed = body.subarray(HEADER_BYTES);
  if (sealed.length > recordSize) throw new Error('more than one record');
  // RFC 8291, section 3.4.
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), own.getPublicKey(), sender]);
  const secret = derive(own.computeSecret(sender), auth, info, 32);
  const key = derive(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-TAG_BYTES));
  return unpadded(Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]));
}

/** Makes a browser that has just subscribed, or one with known keys (base64url). */
export function makeBrowser(known?: { privateKey: string; auth: string }): Browser {
  const own = createECDH('prime256v1');
  if (known) own.setPrivateKey(Buffer.from(known.privateKey, 'base64url'));
  else own.generateKeys();
  const auth = known ? Buffer.from(known.auth, 'base64url') : randomBytes(16);
  return {
    keys: { p256dh: own.getPublicKey('base64url'), auth: auth.toString('base64url') },
    open: (body) => decrypt(body, own, auth),
  };
}
