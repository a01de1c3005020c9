import { nodeRecordCipher } from '../../../../shared/client/node/record-cipher.ts';
import { nodeTextCrypto } from '../../../../shared/client/node/text-crypto.ts';
import { fileKeys } from '../../../../shared/client/node/keys.ts';
import { makeDeviceKeys } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { aesKey } from '../../../../shared/client/sealed/primitives/aes.ts';
import { type TextCrypto, webTextCrypto } from '../../../../shared/client/sealed/primitives/text-crypto.ts';
import { vectorChecks } from '../../../support/sealed/vector-checks.ts';
import { rfcVectors, sealedVectors } from '../../../support/sealed/vector-files.ts';

/* Checks Node's own cryptography. `vectors.test.ts` opens the same vectors with WebCrypto. */

const checks = vectorChecks(sealedVectors(), rfcVectors(), {
  textCrypto: nodeTextCrypto,
  recordCipher: nodeRecordCipher,
});

test.each(checks)('in Node: $title', async ({ run }) => {
  const { got, wanted } = await run();
  expect(got).toEqual(wanted);
});

const bytes = (length: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length }, (_, at) => at % 251);
const both: [string, TextCrypto, TextCrypto][] = [
  ['Node takes what WebCrypto made', webTextCrypto, nodeTextCrypto],
  ['WebCrypto takes what Node made', nodeTextCrypto, webTextCrypto],
];

test.each(both)('%s, and nothing that was changed', async (_, maker, taker) => {
  const [key, nonce, aad, plain] = [await aesKey(bytes(32)), bytes(12), bytes(5), bytes(300)];
  const sealed = await maker.seal(key, nonce, aad, plain);
  expect(sealed).toHaveLength(316);
  expect(await taker.open(key, nonce, aad, sealed)).toEqual(plain);
  for (const at of [0, 299, 300, 315]) {
    const spoilt = sealed.with(at, (sealed[at] ?? 0) ^ 1);
    expect(await taker.open(key, nonce, aad, spoilt)).toBeNull();
  }
  for (const length of [0, 15, 16, 315]) expect(await taker.open(key, nonce, aad, sealed.slice(0, length))).toBeNull();
  expect(await taker.open(key, nonce, bytes(6), sealed)).toBeNull();

  const { sig } = await makeDeviceKeys();
  const signature = await maker.sign(sig.privateKey, plain);
  expect(signature).toHaveLength(64);
  expect(await taker.hasSigned(sig.publicKey, signature, plain)).toBe(true);
  for (const wrong of [signature.slice(1), signature.with(0, (signature[0] ?? 0) ^ 1), bytes(64)]) {
    expect(await taker.hasSigned(sig.publicKey, wrong, plain)).toBe(false);
  }
  expect(await taker.hasSigned(sig.publicKey, signature, bytes(299))).toBe(false);
});

test('programs of Node use it', () => {
  expect(fileKeys('any').textCrypto).toBe(nodeTextCrypto);
});
