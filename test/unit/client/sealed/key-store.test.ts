import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileKeys } from '../../../../shared/client/node/keys.ts';
import { sealingFiles } from '../../../../shared/client/node/sealing.ts';
import { makeDeviceKeys, publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { keepDeviceKeys, type KeyStore, memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { adoptFirstRing, loadKeyring } from '../../../../shared/client/sealed/keyring.ts';
import { makeFirstRing } from '../../../../shared/client/sealed/ring/change.ts';
import { ACCOUNT, codeOf, NOW } from './people.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the keys are in a file of their owner alone, and come back from it as they were', async () => {
  const path = join(folder, 'of', 'baton', 'keys.json');
  const store = fileKeys(path);
  const { keys } = await keepDeviceKeys(store);
  const signer = { device_id: 'device-a', keys };
  const ring = await makeFirstRing(ACCOUNT, { ...signer, kind: 'cli' });
  await adoptFirstRing(store, { ...ACCOUNT, device_id: 'device-a' }, ring.text, NOW);
  const again = await loadKeyring(fileKeys(path), NOW);

  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'of')).mode & 0o077).toBe(0);
  expect(readdirSync(join(folder, 'of', 'baton'))).toEqual(['keys.json']);
  expect(again.ring.text).toBe(ring.text);
  expect(again.accountKeys).toHaveLength(1);
  expect(await publicKeysOf(again.keys)).toEqual(await publicKeysOf(keys));
});

test('of many that ask at once, one makes the keys, and all get these', async () => {
  const path = join(folder, 'keys.json');
  const made = await Promise.all(Array.from({ length: 5 }, () => keepDeviceKeys(fileKeys(path))));
  const texts = await Promise.all(made.map(async ({ keys }) => JSON.stringify(await publicKeysOf(keys))));
  expect(new Set(texts).size).toBe(1);
});

test('what a process left that died while it saved is removed, and what others could read is taken from them', async () => {
  const path = join(folder, 'keys.json');
  const store = fileKeys(path);
  await keepDeviceKeys(store);
  chmodSync(path, 0o644);
  writeFileSync(`${path}.018f3c4e-7b1a-7cde-8f00-0123456789ab`, readFileSync(path));
  await keepDeviceKeys(store);
  expect(readdirSync(folder)).toEqual(['keys.json']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await store.clear();
  expect(readdirSync(folder)).toEqual([]);
  expect(await codeOf(loadKeyring(store, NOW))).toBe('keys_lost');
});

test.each(['', '{}', '{"v":1,"keys":{}}', '{"v":2}'])(
  'a file with %j is said to be unreadable, and stays',
  async (text) => {
    const path = join(folder, 'keys.json');
    writeFileSync(path, text);
    expect(await codeOf(keepDeviceKeys(fileKeys(path)))).toContain(
      'cannot be read: remove the file, and link this device again',
    );
    expect(readFileSync(path, 'utf8')).toBe(text);
  },
);

test('what a process left that died while it saved an approval goes with that approval', async () => {
  const { grant } = sealingFiles(folder);
  await grant.save({ request_id: 'request', sealed: 'sealed', secret: 'secret' });
  const path = join(folder, 'grant.json');
  writeFileSync(`${path}.018f3c4e-7b1a-7cde-8f00-0123456789ab`, readFileSync(path));
  await grant.clear();
  expect(readdirSync(folder)).toEqual([]);
});

test('keys in memory cannot be read by anybody, and a device that is not linked says so', async () => {
  const store = memoryKeys();
  const { keys } = await keepDeviceKeys(store);
  expect([keys.enc.privateKey.extractable, keys.sig.privateKey.extractable]).toEqual([false, false]);
  expect(await codeOf(loadKeyring(store, NOW))).toBe('unkeyed');
});

test('a store that takes keys and returns none, or others that do not fit, is found before they are announced', async () => {
  const forgetful: KeyStore = { ...memoryKeys(), save: () => Promise.resolve() };
  const failing: KeyStore = { ...memoryKeys(), save: () => Promise.reject(new Error('private window')) };
  const [one, other] = await Promise.all([makeDeviceKeys(), makeDeviceKeys()]);
  const mixed = { enc: { privateKey: one.enc.privateKey, publicKey: other.enc.publicKey }, sig: one.sig };
  const record = { keys: mixed, account: null, rings: [], seen: 0 };
  const nulled = { ...record, keys: { enc: null as never, sig: one.sig } };
  const having = (kept: typeof record): KeyStore => ({ ...memoryKeys(), load: () => Promise.resolve(kept) });

  for (const store of [forgetful, failing, having(record), having(nulled)]) {
    expect(await codeOf(keepDeviceKeys(store))).toBe('keys_unusable');
  }
});
