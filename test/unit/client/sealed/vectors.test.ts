import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openClipboard } from '../../../../shared/client/sealed/content/clipboard.ts';
import { openMessage } from '../../../../shared/client/sealed/content/messages.ts';
import { makeRecords, sealFrom } from '../../../../shared/client/sealed/content/records.ts';
import { openSignal } from '../../../../shared/client/sealed/content/signals.ts';
import { openTransfer } from '../../../../shared/client/sealed/content/transfers.ts';
import type { DeviceKeys, PublicKeys } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { adoptRing, type Keyring, takeKeys } from '../../../../shared/client/sealed/keyring.ts';
import { openGrant } from '../../../../shared/client/sealed/link/grant.ts';
import { inviteDigits } from '../../../../shared/client/sealed/link/invite.ts';
import { linkKeyText } from '../../../../shared/client/sealed/link/link-code.ts';
import { type Bytes, toBase64url } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { walkChain } from '../../../../shared/client/sealed/ring/chain.ts';
import { hashOf } from '../../../../shared/client/sealed/ring/ring.ts';
import { codeOf } from './people.ts';

interface Item {
  what: string;
  from: string;
  to: string;
  by: string;
  sealed: string;
  text: string;
  code: string;
  isRemoved?: boolean;
}
interface Vectors {
  account: { service: string; user_id: string };
  now: number;
  devices: Record<string, { enc: string; sig: string; public: PublicKeys }>;
  rings: string[];
  hashes: string[];
  refused_rings: { what: string; after: number; text: string; code: string }[];
  guests: string;
  messages: Item[];
  refused_messages: Item[];
  clipboards: Item[];
  refused_clipboards: Item[];
  link: Record<'request_id' | 'secret' | 'device_id' | 'key' | 'sealed' | 'check_code' | 'invite_digits', string>;
  transfer: { from: string; by: string; sealed: string; key: string; files: unknown[] };
  records: {
    key: string;
    transfer_id: string;
    index: number;
    files: { size: number; sealed_size: number; sha256: string; first: string }[];
  };
  signal: { from: string; sealed: string; text: string };
}

const path = new URL('../../../../shared/client/vectors/sealed.json', import.meta.url);
const vectors = JSON.parse(readFileSync(path, 'utf8')) as Vectors;
const { account, now } = vectors;
const bytes = (text: string): Bytes => new Uint8Array(Buffer.from(text, 'base64url'));

async function pair(name: 'ECDH' | 'ECDSA', kept: string, shown: string): Promise<CryptoKeyPair> {
  const curve = { name, namedCurve: 'P-256' };
  const isEcdh = name === 'ECDH';
  return {
    privateKey: await crypto.subtle.importKey('pkcs8', bytes(kept), curve, false, isEcdh ? ['deriveBits'] : ['sign']),
    publicKey: await crypto.subtle.importKey('raw', bytes(shown), curve, true, isEcdh ? [] : ['verify']),
  };
}

async function keysOf(id: string): Promise<DeviceKeys> {
  const kept = vectors.devices[id];
  if (kept === undefined) throw new Error(`no device ${id}`);
  return { enc: await pair('ECDH', kept.enc, kept.public.enc), sig: await pair('ECDSA', kept.sig, kept.public.sig) };
}

/** What the device knows that was on the first ring, and has walked to the last. */
async function keyringOf(id: string): Promise<Keyring> {
  const store = memoryKeys();
  await store.save({ keys: await keysOf(id), account: null, rings: [], seen: 0 });
  const begin = { account: { ...account, device_id: id }, n: 1, hash: vectors.hashes[0] as string };
  await adoptRing(store, begin, vectors.rings, now);
  return (await takeKeys(store, { rings: vectors.rings, n: vectors.rings.length, guests: vectors.guests }, now))
    .keyring;
}

const keyrings = new Map<string, Keyring>();
beforeAll(async () => {
  for (const id of ['device-a', 'device-b', 'guest-1']) keyrings.set(id, await keyringOf(id));
});
const keyring = (id: string): Keyring => keyrings.get(id) as Keyring;

test('the chain of rings', async () => {
  const walked = await walkChain([], vectors.rings, account);
  expect(walked.map(hashOf)).toEqual(vectors.hashes);
  expect(walked.map(({ body }) => body.epoch)).toEqual([1, 1, 1, 2]);
});

test.each(vectors.refused_rings)('refused ring: $what', async ({ after, text, code }) => {
  const known = await walkChain([], vectors.rings.slice(0, after), account);
  expect(await codeOf(walkChain(known, [text], account))).toBe(code);
});

test.each(vectors.messages)('message: $what', async ({ from, to, by, sealed, text, isRemoved = false }) => {
  const opened = await openMessage(keyring(by), { sealed, from, to });
  expect(opened.text).toBe(text);
  expect(opened.sender).toMatchObject({ device_id: from, isRemoved });
});

test.each(vectors.refused_messages)('refused message: $what', async ({ from, to, by, sealed, code }) => {
  expect(await codeOf(openMessage(keyring(by), { sealed, from, to }))).toBe(code);
});

test.each(vectors.clipboards)('clipboard: $what', async ({ from, by, sealed, text }) => {
  expect((await openClipboard(keyring(by), { sealed, from, now })).text).toBe(text);
});

test.each(vectors.refused_clipboards)('refused clipboard: $what', async ({ from, by, sealed, code }) => {
  expect(await codeOf(openClipboard(keyring(by), { sealed, from, now }))).toBe(code);
});

test('a code, its grant and its digits', async () => {
  const { request_id, secret, device_id, key, sealed, check_code, invite_digits } = vectors.link;
  const shown = vectors.devices[device_id]?.public as PublicKeys;
  const asked = { sealed, request_id, account: { ...account, device_id }, secret: bytes(secret) };

  expect(await linkKeyText(shown, bytes(secret))).toBe(key);
  expect(await inviteDigits(bytes(secret), shown, request_id)).toBe(invite_digits);
  expect(await openGrant(await keysOf(device_id), asked)).toMatchObject({
    ...{ n: vectors.rings.length, hash: vectors.hashes.at(-1), approver: 'device-a', checkCode: check_code },
  });
});

test('a transfer, and a signal of it', async () => {
  const { from, by, sealed, key, files } = vectors.transfer;
  const opened = await openTransfer(keyring(by), { sealed, from });
  expect(opened.files).toEqual(files);
  expect(toBase64url(opened.key)).toBe(key);
  const { records, signal } = vectors;
  const signalPath = { transferId: records.transfer_id, from: signal.from };
  expect(await openSignal(bytes(records.key), signalPath, signal.sealed)).toBe(signal.text);
});

test.each(vectors.records.files)('records of $size bytes', async ({ size, sealed_size, sha256, first }) => {
  const { key, transfer_id: transferId, index } = vectors.records;
  const records = await makeRecords(bytes(key), { transferId, index, size });
  const file = Uint8Array.from({ length: size }, (_, i) => (i * 31) & 255);
  const hash = createHash('sha256');
  let [length, begin] = [0, ''];
  for await (const piece of sealFrom(records, (start, wanted) => file.slice(start, start + wanted))) {
    if (length === 0) begin = toBase64url(piece.subarray(0, 28));
    hash.update(piece);
    length += piece.length;
  }
  expect({ length, begin, hash: hash.digest('base64url') }).toEqual({
    length: sealed_size,
    begin: first,
    hash: sha256,
  });
});
