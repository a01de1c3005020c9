import { rfcVectors, sealedVectors } from '../../../support/sealed/vector-files.ts';

/*
 * Vectors of WebCrypto in Node, as on a platform that does not have Node's own cryptography, with which `vectors.test.ts`
 * opens the same ones.
 */

const own = process.getBuiltinModule;
Object.assign(process, { getBuiltinModule: undefined });
const { vectorChecks } = await import('../../../support/sealed/vector-checks.ts');
const { nodeCrypto } = await import('../../../../shared/client/sealed/primitives/node-crypto.ts');
const { aesKey, aesOpen, aesSeal } = await import('../../../../shared/client/sealed/primitives/aes.ts');
const { sign } = await import('../../../../shared/client/sealed/primitives/signature.ts');
const { makeDeviceKeys } = await import('../../../../shared/client/sealed/keys/device-keys.ts');
Object.assign(process, { getBuiltinModule: own });

test('this file has WebCrypto alone', () => {
  expect(nodeCrypto).toBeNull();
});

test.each(vectorChecks(sealedVectors(), rfcVectors()))('$title', async ({ run }) => {
  const { got, wanted } = await run();
  expect(got).toEqual(wanted);
});

test("Node's own cryptography takes what WebCrypto made, and makes what it takes", async () => {
  const { createCipheriv, KeyObject, verify } = await import('node:crypto');
  const [key, nonce, aad, plain] = [await aesKey(bytes(32)), bytes(12), bytes(5), bytes(300)];
  const cipher = createCipheriv('aes-256-gcm', KeyObject.from(key), nonce).setAAD(aad);
  const sealed = new Uint8Array(Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]));
  expect(await aesSeal(key, nonce, aad, plain)).toEqual(sealed);
  expect(await aesOpen(key, nonce, aad, sealed)).toEqual(plain);
  const { sig } = await makeDeviceKeys();
  const signature = await sign(sig.privateKey, ['x']);
  const about = { key: KeyObject.from(sig.publicKey), dsaEncoding: 'ieee-p1363' } as const;
  expect(verify('sha256', Uint8Array.of(0, 0, 0, 1, 120), about, signature)).toBe(true);
});

const bytes = (length: number): Uint8Array<ArrayBuffer> => Uint8Array.from({ length }, (_, at) => at % 251);
