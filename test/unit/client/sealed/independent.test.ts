import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  verify,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { signedBytes } from '../../../support/sealed/keyring.ts';

/*
 * These tests read the vectors without the library: from the design and RFC 9180, with the primitives of Node alone. They show
 * that the library writes what the design says, and not only what the library itself can read.
 */

interface Vectors {
  account: { service: string; user_id: string };
  devices: Record<string, { enc: string; public: { enc: string; sig: string } }>;
  rings: string[];
  hashes: string[];
  messages: { what: string; from: string; to: string; sealed: string; text: string }[];
  records: {
    key: string;
    transfer_id: string;
    index: number;
    files: { size: number; sealed_size: number; sha256: string; first: string }[];
  };
}
interface RingBody {
  n: number;
  prev_hash: string;
  epoch: number;
  key_id: string;
  members: { device_id: string; sig: string }[];
  wraps: Record<string, string>;
}

const path = new URL('../../../../shared/client/vectors/sealed.json', import.meta.url);
const vectors = JSON.parse(readFileSync(path, 'utf8')) as Vectors;
const { service, user_id: user } = vectors.account;
const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');
const u32 = (value: number): Buffer => {
  const made = Buffer.alloc(4);
  made.writeUInt32BE(value);
  return made;
};
const sha256 = (value: Uint8Array): string => createHash('sha256').update(value).digest('base64url');
const hkdf = (key: Uint8Array, info: Uint8Array | string): Buffer => Buffer.from(hkdfSync('sha256', key, '', info, 32));

function keyOf(point: Buffer): KeyObject {
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url')) as [
    string,
    string,
  ];
  return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
}
const isSigned = (sig: string, list: (string | Uint8Array)[], signature: Uint8Array): boolean =>
  verify('sha256', signedBytes(list), { key: keyOf(bytes(sig)), dsaEncoding: 'ieee-p1363' }, signature);

function open(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, sealed: Buffer): Buffer {
  const cipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(aad).setAuthTag(sealed.subarray(-16));
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
}

const hmac = (key: Uint8Array, value: Uint8Array): Buffer => createHmac('sha256', key).update(value).digest();

/** Do LabeledExtract and LabeledExpand of RFC 9180, section 4. One block of HKDF is enough for every length here. */
const extract = (suite: Buffer, salt: Uint8Array, label: string, value: Uint8Array): Buffer =>
  hmac(salt, Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label), value]));
function expand(suite: Buffer, key: Buffer, label: string, info: Uint8Array, length: number): Buffer {
  const size = Buffer.of(0, length);
  const labeled = Buffer.concat([size, Buffer.from('HPKE-v1'), suite, Buffer.from(label), info, Buffer.of(1)]);
  return hmac(key, labeled).subarray(0, length);
}

/** Opens `02 || enc || ciphertext` by RFC 9180, base mode, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM. */
function hpkeOpen(device: string, info: Buffer, envelope: Buffer): Buffer {
  const own = vectors.devices[device] as Vectors['devices'][string];
  const [enc, sealed] = [envelope.subarray(1, 66), envelope.subarray(66)];
  const privateKey = createPrivateKey({ key: bytes(own.enc), format: 'der', type: 'pkcs8' });
  const kem = Buffer.concat([Buffer.from('KEM'), Buffer.of(0, 0x10)]);
  const suite = Buffer.concat([Buffer.from('HPKE'), Buffer.of(0, 0x10, 0, 1, 0, 2)]);
  const none = Buffer.alloc(0);
  const secret = extract(kem, none, 'eae_prk', diffieHellman({ privateKey, publicKey: keyOf(enc) }));
  const shared = expand(kem, secret, 'shared_secret', Buffer.concat([enc, bytes(own.public.enc)]), 32);
  const [ids, about] = [extract(suite, none, 'psk_id_hash', none), extract(suite, none, 'info_hash', info)];
  const context = Buffer.concat([Buffer.of(0), ids, about]);
  const main = extract(suite, shared, 'secret', none);
  return open(expand(suite, main, 'key', context, 32), expand(suite, main, 'base_nonce', context, 12), none, sealed);
}

const ringAt = (index: number): { body: RingBody; raw: Buffer; signature: Buffer } => {
  const [raw, signature] = (vectors.rings[index] as string).split('.').map(bytes) as [Buffer, Buffer];
  return { raw, signature, body: JSON.parse(raw.toString()) as RingBody };
};

/** Returns the account key of an epoch, from the first ring that wraps it for the device. */
function accountKey(epoch: number, device: string): Buffer {
  const at = vectors.rings.findIndex(
    (_, index) => ringAt(index).body.epoch === epoch && device in ringAt(index).body.wraps,
  );
  const { body } = ringAt(at);
  const info = signedBytes(['baton/1 wrap', service, user, device, u32(epoch)]);
  const key = hpkeOpen(device, info, bytes(body.wraps[device] as string));
  expect(sha256(Buffer.concat([Buffer.from('id'), key]))).toBe(body.key_id);
  return key;
}

test('each ring has the hash that the next one names, and the signature of a member of the one before', () => {
  for (const [index] of vectors.rings.entries()) {
    const { raw, signature, body } = ringAt(index);
    const before = ringAt(Math.max(0, index - 1)).body;
    expect(sha256(raw)).toBe(vectors.hashes[index]);
    expect(body).toMatchObject({ n: index + 1, prev_hash: index === 0 ? '' : vectors.hashes[index - 1] });
    const signers = before.members.filter(({ sig }) => isSigned(sig, ['baton/1 ring', service, user, raw], signature));
    expect(signers).toHaveLength(1);
  }
});

test('all devices of a ring unwrap the same account key, which the ring names', () => {
  expect(accountKey(1, 'device-a')).toEqual(accountKey(1, 'device-b'));
});

/** Returns the length by Padmé, whose lowest bits are zero, so that it says little. */
function padme(length: number): number {
  const exponent = Math.floor(Math.log2(length));
  const mask = 2 ** (exponent - Math.floor(Math.log2(exponent)) - 1) - 1;
  return Math.ceil(length / (mask + 1)) * (mask + 1);
}

const underAccount = vectors.messages.filter(({ sealed }) => bytes(sealed)[0] === 1);

test.each(underAccount)('message: $what', ({ from, to, sealed, text }) => {
  const envelope = bytes(sealed);
  const epoch = envelope.readUInt32BE(1);
  const key = hkdf(accountKey(epoch, 'device-a'), 'baton/1 msg');
  const parts = ['baton/1 msg', service, user, from, to];
  const body = open(key, envelope.subarray(5, 17), signedBytes([...parts, u32(epoch)]), envelope.subarray(17));
  const [n, length] = [Number(body.readBigUInt64BE(24)), body.readUInt32BE(48)];
  const end = 52 + length;
  const { raw, body: ring } = ringAt(n - 1);

  expect(body.subarray(52, end).toString()).toBe(text);
  expect(body.subarray(32, 48)).toEqual(createHash('sha256').update(raw).digest().subarray(0, 16));
  const { sig = '' } = ring.members.find(({ device_id }) => device_id === from) ?? {};
  expect(isSigned(sig, [...parts, body.subarray(0, end)], body.subarray(end, end + 64))).toBe(true);
  expect(body.length).toBe(padme(end + 64));
  expect(body.subarray(end + 64).every((byte) => byte === 0)).toBe(true);
});

test('there are messages of 0, 1 and 4,096 bytes, which are 4,385 when they are sealed', () => {
  const sizes = new Map(underAccount.map(({ text, sealed }) => [Buffer.byteLength(text), bytes(sealed).length]));
  expect([...sizes.keys()]).toEqual(expect.arrayContaining([0, 1, 4_096]));
  expect(sizes.get(4_096)).toBe(4_385);
});

test.each(vectors.records.files)('records of $size bytes', ({ size, sealed_size, sha256: digest, first }) => {
  const R = 256 * 1024;
  const { key, transfer_id, index } = vectors.records;
  const derived = (name: string) => hkdf(bytes(key), Buffer.concat([Buffer.from(name), u32(index)]));
  const [enc, nonceKey] = [derived('enc'), derived('nonce')];
  const file = Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 31) & 255));
  const count = Math.max(1, Math.ceil(size / R));
  const sealed = Array.from({ length: count }, (_, record) => {
    const plain = file.subarray(record * R, (record + 1) * R);
    const id = Buffer.from(transfer_id.replaceAll('-', ''), 'hex');
    const aad = Buffer.concat([id, u32(index), u32(0), u32(record), Buffer.of(record === count - 1 ? 1 : 0)]);
    const nonce = hmac(nonceKey, Buffer.concat([aad, plain])).subarray(0, 12);
    const cipher = createCipheriv('aes-256-gcm', enc, nonce).setAAD(aad);
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  });
  const whole = Buffer.concat(sealed);
  expect([whole.length, sha256(whole)]).toEqual([sealed_size, digest]);
  expect(whole.subarray(0, 28).toString('base64url')).toBe(first);
});
