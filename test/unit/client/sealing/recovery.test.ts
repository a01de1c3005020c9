import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { BatonClientError } from '../../../../shared/client/errors/baton-client-error.ts';
import type { Keyring } from '../../../../shared/client/sealed/keyring.ts';
import { type KeyRecord, memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { makeNextRing } from '../../../../shared/client/sealed/ring/change.ts';
import { openMessage, sealMessage } from '../../../../shared/client/sealed/content/messages.ts';
import { keysOfWords, makeWords } from '../../../../shared/client/sealed/ring/words.ts';
import { type DeviceKeys, publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { goneMembers } from '../../../../shared/client/sealing/gone.ts';
import { makeRecovery } from '../../../../shared/client/sealing/recovery.ts';
import { makeRings } from '../../../../shared/client/sealing/rings.ts';
import { ACCOUNT, codeOf, firstRing, makePerson, nextRing, NOW } from '../sealed/people.ts';

/* A service that keeps rings, which a test may exchange. */

const PAGE = 8;

function makeService() {
  const service = { rings: [] as string[], dropped: 0, asked: [] as number[], beforePut: () => Promise.resolve() };
  const call = async (name: string, { body, query, headers }: Record<string, Record<string, unknown>> = {}) => {
    const { rings } = service;
    if (name === 'getMe') return { status: 200, body: { service: ACCOUNT.service, features: { sealed: true } } };
    if (name === 'getKeys') {
      const after = query?.['after'] as number;
      service.asked.push(after);
      if (rings.length === 0) throw new BatonClientError('not_found', 'no keys');
      const from = Math.max(after, service.dropped);
      return { status: 200, body: { rings: rings.slice(from, from + PAGE), n: rings.length, guests: null } };
    }
    await service.beforePut();
    if (headers?.['If-Match'] !== `"${service.rings.length}"`) throw new BatonClientError('keys_conflict', 'moved');
    service.rings.push(body?.['ring'] as string);
    return { status: 200, body: { n: service.rings.length } };
  };
  return Object.assign(service, { call });
}
type Service = ReturnType<typeof makeService>;

const noGrant = { load: () => Promise.resolve(null), save: () => Promise.resolve(), clear: () => Promise.resolve() };

/** Makes a signed-in device. */
function deviceOf(service: Service, device_id: string) {
  const session = { device: { device_id }, user: { user_id: ACCOUNT.user_id }, scope: 'full', persist: 'persist' };
  const calls = {
    caller: service,
    serverNow: () => NOW,
    trustedNow: () => NOW,
    session: () => Promise.resolve(session),
  };
  const stores = { keys: memoryKeys(), asking: memoryKeys(), grant: noGrant };
  const rings = makeRings(calls as unknown as SealingCalls, stores);
  return { rings, stores, recovery: makeRecovery(calls as unknown as SealingCalls, rings, stores) };
}

async function accountWithWords() {
  const service = makeService();
  const laptop = deviceOf(service, 'laptop-1');
  await laptop.rings.create({ kind: 'cli' });
  const words = await laptop.recovery.makeWords();
  return { service, laptop, words };
}

const cli = { kind: 'cli' };

async function currentOf({ rings }: ReturnType<typeof deviceOf>): Promise<Keyring> {
  const keyring = await rings.current();
  if (keyring === null) throw new Error('no keys');
  return keyring;
}

test('24 words let a device in after many rings and rotations, and it reads what was sealed before', async () => {
  const { service, laptop, words } = await accountWithWords();
  expect(words.split(' ')).toHaveLength(24);
  for (let at = 0; at < 10; at += 1) {
    const other = (await makePerson(`other-${at}`)).asks;
    await laptop.rings.change({ add: [other], remove: at === 5 ? ['other-1'] : [] });
  }
  const own = await laptop.rings.current();
  const sealed = await sealMessage(own as NonNullable<typeof own>, { to: '*', text: 'before', t: NOW });
  const fresh = deviceOf(service, 'fresh-1');
  const keyring = await fresh.recovery.recover(` ${words.toUpperCase().replaceAll(' ', '\n ')} `, cli);
  expect(keyring.ring.body).toMatchObject({ n: 13, epoch: 2 });
  expect((await openMessage(keyring, { sealed, from: 'laptop-1', to: '*' })).text).toBe('before');
  expect((await fresh.rings.current())?.ring.body.n).toBe(13);
  expect((await laptop.rings.current())?.ring.body.members.map(({ device_id }) => device_id)).toContain('fresh-1');
  // Nothing changes for a device that has keys.
  expect((await fresh.recovery.recover(words, cli)).ring.body.n).toBe(13);
});

test('new words replace the earlier ones, and the key of the account', async () => {
  const { service, laptop, words } = await accountWithWords();
  const newer = await laptop.recovery.makeWords();
  expect((await laptop.rings.current())?.ring.body.epoch).toBe(2);
  expect(await codeOf(deviceOf(service, 'one-1').recovery.recover(words, cli))).toBe('bad_words');
  expect(await codeOf(deviceOf(service, 'two-1').recovery.recover(newer, cli))).toBe('taken');
  expect(await codeOf(deviceOf(service, 'six-1').recovery.recover('abandon '.repeat(24), cli))).toBe('bad_words');
});

test('words that the user has seen count once they are put, and the ring says since when', async () => {
  const service = makeService();
  const laptop = deviceOf(service, 'laptop-1');
  await laptop.rings.create({ kind: 'cli' });
  const chosen = { words: await makeWords(), seen: await currentOf(laptop) };
  expect(service.rings).toHaveLength(1);
  expect(await laptop.recovery.makeWords(chosen)).toBe(chosen.words);
  // The response may have been lost, so the same words are put again, under the same key of the account.
  await laptop.recovery.makeWords(chosen);
  expect((await currentOf(laptop)).ring.body).toMatchObject({ epoch: 1, words: { at: NOW } });
  await laptop.recovery.renewWords(chosen.words);
  expect((await currentOf(laptop)).ring.body.words?.at).toBe(NOW);
  expect(await codeOf(deviceOf(service, 'fresh-1').recovery.recover(chosen.words, cli))).toBe('taken');
});

test('words that the user has seen do not replace words that were made since', async () => {
  const { service, laptop, words } = await accountWithWords();
  const chosen = { words: await makeWords(), seen: await currentOf(laptop) };
  let newer = '';
  service.beforePut = async () => {
    service.beforePut = () => Promise.resolve();
    newer = await laptop.recovery.makeWords();
  };
  expect(await codeOf(laptop.recovery.makeWords(chosen))).toBe('words_moved');
  expect(await codeOf(laptop.recovery.makeWords(chosen))).toBe('words_moved');
  for (const old of [words, chosen.words]) {
    expect(await codeOf(deviceOf(service, 'one-1').recovery.recover(old, cli))).toBe('bad_words');
  }
  expect(await codeOf(deviceOf(service, 'two-1').recovery.recover(newer, cli))).toBe('taken');
});

test('a chain that a service makes with the keys of the words is not believed', async () => {
  const { service, words } = await accountWithWords();
  const keys = await publicKeysOf(await keysOfWords(words));
  const attacker = await makePerson('laptop-1');
  const first = await firstRing(attacker);
  const genuine = JSON.parse(Buffer.from(service.rings.at(-1)?.split('.')[0] ?? '', 'base64url').toString()) as {
    words: { n: number; signature: string };
  };
  const member = { device_id: 'recovery-words', kind: 'words', ...keys };
  for (const said of [genuine.words, undefined]) {
    const forged = await nextRing(first, attacker, { add: [member], ...(said && { words: said }) });
    service.rings = [first.text, forged.text];
    expect(await codeOf(deviceOf(service, 'fresh-1').recovery.recover(words, cli))).toBe('bad_ring');
    expect(service.rings).toHaveLength(2);
  }
  service.rings = [];
  expect(await codeOf(deviceOf(service, 'fresh-1').recovery.recover(words, cli))).toBe('keys_gone');
});

describe('in an account whose ring has changed 600 times', () => {
  /** The number is more than half of the rings that a service keeps. */
  const MANY = 600;
  let put: string[];
  let words: string;
  let laptop: ReturnType<typeof deviceOf>;
  let service: Service;
  beforeAll(async () => {
    const made = await accountWithWords();
    ({ words, laptop, service } = made);
    const { keys } = (await laptop.stores.keys.load()) as { keys: DeviceKeys };
    let { ring } = await currentOf(laptop);
    for (let count = 0; count < MANY; count += 1) {
      ring = await makeNextRing(ring, { device_id: 'laptop-1', keys }, {}, NOW);
      service.rings.push(ring.text);
    }
    put = [...service.rings];
    await currentOf(laptop);
  });
  beforeEach(() => {
    Object.assign(service, { rings: [...put], dropped: 0 });
  });

  /** Makes a device with the rings and keys of the laptop. */
  async function again(): Promise<ReturnType<typeof deviceOf>> {
    const device = deviceOf(service, 'laptop-1');
    await device.stores.keys.save((await laptop.stores.keys.load()) as KeyRecord);
    return device;
  }

  test('words are due, and last when they are renewed, although the service drops all earlier rings', async () => {
    const device = await again();
    expect(await device.recovery.areDue(await currentOf(device))).toBe(true);
    expect(await codeOf(device.recovery.renewWords('abandon '.repeat(23) + 'art'))).toBe('bad_words');
    const { ring, ...renewed } = await device.recovery.renewWords(words);
    expect(ring.body).toMatchObject({ n: MANY + 3, epoch: 1, words: { n: MANY + 2 } });
    expect(await device.recovery.areDue({ ...renewed, ring })).toBe(false);
    service.dropped = MANY + 1;
    const keyring = await deviceOf(service, 'fresh-1').recovery.recover(words, cli);
    expect(keyring.ring.body.members.map(({ device_id }) => device_id)).toContain('fresh-1');
  });

  test('words that were not renewed in time prove nothing, and the error says so', async () => {
    service.dropped = MANY;
    const { recovery } = deviceOf(service, 'fresh-1');
    expect(await codeOf(recovery.recover(words, cli))).toBe('words_over');
    expect(service.rings).toHaveLength(put.length);
  });

  test('new words last as long as renewed ones, also where the first ring is dropped already', async () => {
    const device = await again();
    service.dropped = MANY;
    const newer = await device.recovery.makeWords();
    expect(await device.recovery.areDue(await currentOf(device))).toBe(false);
    service.dropped = MANY + 1;
    expect(await codeOf(deviceOf(service, 'fresh-1').recovery.recover(newer, cli))).toBe('taken');
  });

  test('words that another device replaces while they are renewed stay replaced', async () => {
    const [device, other] = [await again(), await again()];
    let newer = '';
    service.beforePut = async () => {
      service.beforePut = () => Promise.resolve();
      newer = await other.recovery.makeWords();
    };
    expect(await codeOf(device.recovery.renewWords(words))).toBe('bad_words');
    expect(await codeOf(deviceOf(service, 'one-1').recovery.recover(words, cli))).toBe('bad_words');
    expect(await codeOf(deviceOf(service, 'two-1').recovery.recover(newer, cli))).toBe('taken');
  });

  test('a chain that a service makes after a renewal is not believed', async () => {
    const device = await again();
    const { ring } = await device.recovery.renewWords(words);
    const attacker = await makePerson('laptop-1');
    const first = await firstRing(attacker);
    const member = { device_id: 'recovery-words', kind: 'words', ...(await publicKeysOf(await keysOfWords(words))) };
    const said = ring.body.words as NonNullable<typeof ring.body.words>;
    const forged = await nextRing(first, attacker, { add: [member], words: { ...said, n: 1 } });
    service.rings = [first.text, forged.text];
    expect(await codeOf(deviceOf(service, 'fresh-1').recovery.recover(words, cli))).toBe('bad_ring');
  });
});

test('words have a place of their own in the ring, and do not count as a device that is gone', async () => {
  const { laptop } = await accountWithWords();
  await laptop.rings.change({ add: [(await makePerson('other-1')).asks] });
  const keyring = await currentOf(laptop);
  const words = { device_id: 'recovery-words', kind: 'words' };
  expect(keyring.ring.body.members).toContainEqual(expect.objectContaining(words));
  expect(goneMembers(keyring, [{ device_id: 'laptop-1' }])).toEqual(['other-1']);
});

test('words are not due in a short chain, nor where there are none', async () => {
  const { laptop } = await accountWithWords();
  expect(await laptop.recovery.areDue(await currentOf(laptop))).toBe(false);
  const service = makeService();
  const without = deviceOf(service, 'laptop-1');
  expect(await without.recovery.areDue(await without.rings.create({ kind: 'cli' }))).toBe(false);
});

test('a recovery that another device overtakes, or that dies after its ring was put, ends well', async () => {
  const { service, laptop, words } = await accountWithWords();
  const fresh = deviceOf(service, 'fresh-1');
  const other = (await makePerson('other-1')).asks;
  let isFirst = true;
  service.beforePut = async () => {
    if (!isFirst) return;
    isFirst = false;
    await laptop.rings.change({ add: [other] });
  };
  const save = fresh.stores.keys.save;
  fresh.stores.keys.save = () => Promise.reject(new Error('killed'));
  expect(await codeOf(fresh.recovery.recover(words, cli))).toBe('killed');
  fresh.stores.keys.save = save;
  const { ring } = await fresh.recovery.recover(words, cli);
  const ids = ring.body.members.map(({ device_id }) => device_id).sort();
  expect([ids, ring.body.epoch]).toEqual([['fresh-1', 'laptop-1', 'other-1', 'recovery-words'], 1]);
});
