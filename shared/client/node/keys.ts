import { chmod, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DeviceKeys } from '../sealed/keys/device-keys.ts';
import type { KeyRecord, KeyStore } from '../sealed/keys/key-store.ts';
import { withLockIfThereIsSpace } from './lock.ts';
import { removeDrafts, replaceFile } from './replace-file.ts';
import { nodeTextCrypto } from './text-crypto.ts';

const OWNER_ALONE = 0o600;

interface KeptPair {
  readonly private: string;
  readonly public: string;
}

/** The record as the file has it. */
interface Kept extends Omit<KeyRecord, 'keys'> {
  readonly v: 1;
  readonly keys: { readonly enc: KeptPair; readonly sig: KeptPair };
}

type Algorithm = 'ECDH' | 'ECDSA';

async function pairText({ privateKey, publicKey }: CryptoKeyPair): Promise<KeptPair> {
  const [own, shown] = await Promise.all([
    crypto.subtle.exportKey('pkcs8', privateKey),
    crypto.subtle.exportKey('raw', publicKey),
  ]);
  return { private: Buffer.from(own).toString('base64url'), public: Buffer.from(shown).toString('base64url') };
}

/** Imports the keys. In memory they cannot be exported again. */
async function pairOf(name: Algorithm, kept: KeptPair): Promise<CryptoKeyPair> {
  const curve = { name, namedCurve: 'P-256' };
  const [own, shown] = [new Uint8Array(Buffer.from(kept.private, 'base64url')), Buffer.from(kept.public, 'base64url')];
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('pkcs8', own, curve, true, name === 'ECDH' ? ['deriveBits'] : ['sign']),
    crypto.subtle.importKey('raw', new Uint8Array(shown), curve, true, name === 'ECDH' ? [] : ['verify']),
  ]);
  return { privateKey, publicKey };
}

const keysOf = async ({ enc, sig }: Kept['keys']): Promise<DeviceKeys> => ({
  enc: await pairOf('ECDH', enc),
  sig: await pairOf('ECDSA', sig),
});

async function recordIn(text: string): Promise<KeyRecord> {
  const { v, keys, account, rings, seen, named, removed, removedGuests, guestPin, away } = JSON.parse(text) as Kept;
  if (v !== 1 || !Array.isArray(rings) || !Number.isSafeInteger(seen)) throw new Error('not a file of keys');
  return { keys: await keysOf(keys), account, rings, seen, named, removed, removedGuests, guestPin, away };
}

/**
 * Keeps the keys of a device of `@baton/client/sealed` in a file that only its owner can read, for any number of processes.
 * Anybody who has the file can act as the device.
 */
export function fileKeys(path: string): KeyStore {
  const makeFolder = () => mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return {
    extractable: true,
    textCrypto: nodeTextCrypto,
    async load() {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if ((error as { code?: unknown }).code === 'ENOENT') return null;
        throw new Error(`The keys in ${path} cannot be read`, { cause: error });
      });
      if (text === null) return null;
      await chmod(path, OWNER_ALONE).catch(() => {});
      return recordIn(text).catch((cause: unknown) => {
        throw new Error(`The keys in ${path} cannot be read: remove the file, and link this device again`, { cause });
      });
    },
    async save({ keys, ...record }) {
      await makeFolder();
      const [enc, sig] = await Promise.all([pairText(keys.enc), pairText(keys.sig)]);
      const kept: Kept = { v: 1, keys: { enc, sig }, ...record };
      await replaceFile(path, `${JSON.stringify(kept)}\n`);
    },
    async clear() {
      await rm(path, { force: true });
      await removeDrafts(path);
    },
    async lock(work) {
      await makeFolder();
      return withLockIfThereIsSpace(`${path}.lock`, async () => {
        await removeDrafts(path);
        return work();
      });
    },
  };
}
