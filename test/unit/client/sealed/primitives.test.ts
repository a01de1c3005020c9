import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { aesKey, aesOpen, aesSeal } from '../../../../shared/client/sealed/primitives/aes.ts';
import { fromBase64url, randomBytes, toBase64url, utf8 } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { digitsOf } from '../../../../shared/client/sealed/primitives/digits.ts';
import { hkdf } from '../../../../shared/client/sealed/primitives/hkdf.ts';
import { hpkeOpen, hpkeSeal, pskOpen, pskSeal } from '../../../../shared/client/sealed/primitives/hpke.ts';
import { padmeLength } from '../../../../shared/client/sealed/primitives/padme.ts';
import { parts } from '../../../../shared/client/sealed/primitives/parts.ts';
import { hasSigned, sign } from '../../../../shared/client/sealed/primitives/signature.ts';
import { makeDeviceKeys, pointIn, publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';

interface Simple {
  parts: { list: string[]; bytes: string }[];
  hkdf: { secret: string; info: string; out: string }[];
  padme: { length: number; padded: number }[];
  digits: { secret: string; count: number; digits: string }[];
}

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const hex = (given: Uint8Array) => Buffer.from(given).toString('hex');
const path = new URL('../../../../shared/client/vectors/primitives.json', import.meta.url);
const simple = JSON.parse(readFileSync(path, 'utf8')) as Simple;

describe('what another implementation made', () => {
  test.each(simple.parts)('parts $list', ({ list, bytes: made }) => expect(hex(parts(list))).toBe(made));
  test.each(simple.hkdf)('HKDF $info', async ({ secret, info, out }) =>
    expect(hex(await hkdf(bytes(secret), info))).toBe(out),
  );
  test.each(simple.padme)('Padmé $length', ({ length, padded }) => expect(padmeLength(length)).toBe(padded));
  test.each(simple.digits)('digits $digits', ({ secret, count, digits }) =>
    expect(digitsOf(bytes(secret), count)).toBe(digits),
  );
});

test('no two lists of parts read alike', () => {
  const list = fc.array(fc.string({ maxLength: 6 }), { maxLength: 5 });
  fc.assert(
    fc.property(list, list, (one, other) => {
      const areAlike = hex(parts(one)) === hex(parts(other));
      expect(areAlike).toBe(
        JSON.stringify(one.map((each) => hex(utf8(each)))) === JSON.stringify(other.map((each) => hex(utf8(each)))),
      );
    }),
  );
});

test('base64url has one spelling, without padding', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (given) => {
      const text = toBase64url(given);
      expect(text).toBe(Buffer.from(given).toString('base64url'));
      expect(hex(fromBase64url(text) ?? randomBytes(1))).toBe(hex(given));
    }),
  );
  for (const odd of ['A', 'AB==', 'AB', 'A+/A', 'AA AA', 'AAB', 'ÄAAA']) expect(fromBase64url(odd)).toBeNull();
});

test('Padmé adds at most 12 %, and pads a longer text never shorter', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (length) => {
      const padded = padmeLength(length);
      expect(padded).toBeGreaterThanOrEqual(length);
      expect(padded).toBeLessThanOrEqual(length * 1.12);
      expect(padmeLength(padded)).toBe(padded);
      expect(padmeLength(length + 1)).toBeGreaterThanOrEqual(padded);
    }),
  );
});

test('an HPKE envelope opens with its key and its info alone, and no byte of it can change', async () => {
  const [own, other] = await Promise.all([makeDeviceKeys(), makeDeviceKeys()]);
  const [info, plain] = [utf8('what it is'), utf8('secret')];
  const envelope = await hpkeSeal(own.enc.publicKey, info, plain);

  expect(envelope[0]).toBe(2);
  expect(await hpkeOpen(own.enc, info, envelope)).toEqual(plain);
  expect(await hpkeOpen(other.enc, info, envelope)).toBeNull();
  expect(await hpkeOpen(own.enc, utf8('something else'), envelope)).toBeNull();
  for (let at = 0; at < envelope.length; at++) {
    const changed = envelope.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(await hpkeOpen(own.enc, info, changed)).toBeNull();
    expect(await hpkeOpen(own.enc, info, envelope.slice(0, at))).toBeNull();
  }
});

test('with a secret, only who has it could have made the envelope; an empty one is refused', async () => {
  const { enc } = await makeDeviceKeys();
  const [info, psk, plain] = [utf8('grant'), randomBytes(32), utf8('secret')];
  const sealed = await pskSeal(enc.publicKey, info, psk, plain);

  expect(await pskOpen(enc, info, psk, sealed.bytes)).toEqual({ bytes: plain, check: sealed.check });
  expect(await pskOpen(enc, info, randomBytes(32), sealed.bytes)).toBeNull();
  expect(await hpkeOpen(enc, info, sealed.bytes)).toBeNull();
  expect(await pskOpen(enc, info, psk, await hpkeSeal(enc.publicKey, info, plain))).toBeNull();
  await expect(pskSeal(enc.publicKey, info, new Uint8Array(), plain)).rejects.toThrow(TypeError);
  await expect(pskOpen(enc, info, new Uint8Array(), sealed.bytes)).rejects.toThrow(TypeError);
});

test('a signature is 64 bytes, and is of one key and one list', async () => {
  const [own, other] = await Promise.all([makeDeviceKeys(), makeDeviceKeys()]);
  const rawOf = async (keys: typeof own) => pointIn((await publicKeysOf(keys)).sig) as never;
  const signature = await sign(own.sig.privateKey, ['ab', 'c']);

  expect(signature).toHaveLength(64);
  expect(await hasSigned(await rawOf(own), signature, ['ab', 'c'])).toBe(true);
  expect(await hasSigned(await rawOf(own), signature, ['a', 'bc'])).toBe(false);
  expect(await hasSigned(await rawOf(other), signature, ['ab', 'c'])).toBe(false);
  // The point is not on the curve.
  expect(await hasSigned(new Uint8Array(65).fill(4), signature, ['ab', 'c'])).toBe(false);
});

test('AES-GCM opens with key, nonce and AAD alone', async () => {
  const [key, nonce, aad, plain] = [await aesKey(randomBytes(32)), randomBytes(12), utf8('aad'), utf8('plain')];
  const sealed = await aesSeal(key, nonce, aad, plain);
  expect(await aesOpen(key, nonce, aad, sealed)).toEqual(plain);
  expect(await aesOpen(key, nonce, utf8('other'), sealed)).toBeNull();
  expect(await aesOpen(key, nonce, aad, sealed.slice(0, -1))).toBeNull();
  expect(await aesOpen(key, nonce, aad, new Uint8Array())).toBeNull();
});
