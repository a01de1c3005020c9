import { BatonClientError } from '../../../../shared/client/errors/baton-client-error.ts';
import { sealMessage } from '../../../../shared/client/sealed/content/messages.ts';
import {
  checkMaySeal,
  disagreeing,
  type Keyring,
  loadKeyring,
  noteSeen,
  takeKeys,
} from '../../../../shared/client/sealed/keyring.ts';
import { memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { highestOf, keptNamed, namedHashOf, withNamed } from '../../../../shared/client/sealed/ring/named-rings.ts';
import type { Ring } from '../../../../shared/client/sealed/ring/ring.ts';
import { noteListed } from '../../../../shared/client/sealing/gone.ts';
import { makeRings } from '../../../../shared/client/sealing/rings.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { memoryTaken } from '../../../../shared/client/sealing/taken.ts';
import { makeTexts } from '../../../../shared/client/sealing/texts.ts';
import {
  ACCOUNT,
  codeOf,
  firstRing,
  keyringOf,
  makePerson,
  naming,
  nextRing,
  NOW,
  type Person,
} from '../sealed/people.ts';

/*
 * Members name rings that a device does not have: a service hides rings, there are two chains, or a device was stolen.
 */

const FAR = Number.MAX_SAFE_INTEGER;
const noGrant = { load: async () => null, save: async () => {}, clear: async () => {} };

/** Makes a phone with its keys, a laptop, and two stolen devices. The service keeps rings. */
async function account() {
  const [phone, laptop, thief, other] = await Promise.all(
    ['phone-1', 'laptop-1', 'thief-1', 'thief-2'].map((id) => makePerson(id)),
  );
  const people = { phone, laptop, thief, other } as Record<'phone' | 'laptop' | 'thief' | 'other', Person>;
  const first = await firstRing(people.phone);
  const second = await nextRing(first, people.phone, {
    add: [people.laptop.asks, people.thief.asks, people.other.asks],
  });
  const ofPhone = await keyringOf(people.phone, [first, second]);
  const service = { rings: [first, second].map(({ text }) => text) };
  const call = async (name: string, { body, headers }: { body?: { ring: string }; headers?: object } = {}) => {
    const { rings } = service;
    if (name !== 'putKeys') return { body: { rings, n: rings.length, guests: null } };
    const isNext = (headers as Record<string, string>)['If-Match'] === `"${rings.length}"`;
    if (!isNext) throw new BatonClientError('keys_conflict', 'moved');
    service.rings = [...rings, body?.ring ?? ''];
    return { body: { n: rings.length + 1 } };
  };
  const session = { device: { device_id: 'phone-1' }, user: { user_id: ACCOUNT.user_id } };
  const times = { serverNow: () => NOW, trustedNow: () => NOW };
  const calls = { caller: { call }, ...times, session: async () => session } as unknown as SealingCalls;
  const { store } = people.phone;
  const rings = makeRings(calls, { keys: store, asking: memoryKeys(), grant: noGrant });
  const texts = makeTexts(calls, { store, taken: memoryTaken(), rings });
  /** Returns what the phone makes of a text that this device seals by that ring. */
  const says = async (by: Person, ring: Ring, keyring: Keyring = ofPhone) => {
    // The text is sealed for the phone alone, as files are. A key of the account that the phone does not have would
    // hide the body.
    const own = { ...ofPhone, ...by.signer, ring, rings: [first, second, ring], accountKeys: [] };
    const sealed = await sealMessage(own, { to: 'phone-1', text: 'any', t: NOW });
    const about = { message_id: 'm1', from_device_id: by.id, from_name: 'any', content: '', created_at: NOW };
    return texts.open(keyring, { ...about, sealed, redelivered: false });
  };
  const numbered = (n: number): Ring => ({ ...second, body: { ...second.body, n } });
  return { ...people, first, second, ofPhone, service, rings, texts, says, numbered };
}

const mayNot = (keyring: Keyring) => codeOf(Promise.resolve().then(() => checkMaySeal(keyring)));

// Proves G36.
test('one text of a stolen device that names a ring of nobody stops the others only until it is removed', async () => {
  const { rings, says, numbered, thief, laptop } = await account();
  expect(await says(thief, numbered(FAR))).toMatchObject({ kind: 'waits', problem: { code: 'unknown_key' } });
  expect(await codeOf(rings.current())).toBe('devices_disagree');
  expect(await codeOf(rings.change({ remove: [laptop.id] }))).toBe('devices_disagree');
  expect(
    (await rings.known().then((keyring) => disagreeing(keyring as Keyring))).map((each) => each.device_id),
  ).toEqual(['thief-1']);
  const keyring = await rings.change({ remove: [thief.id] });
  expect(await mayNot(keyring)).toBe('taken');
  expect(await rings.current()).toMatchObject({ seen: 3 });
});

test('of two stolen devices, both have to be removed', async () => {
  const { rings, says, numbered, thief, other } = await account();
  await says(thief, numbered(FAR));
  await says(other, numbered(9));
  expect(await mayNot(await rings.change({ remove: [thief.id] }))).toBe('unknown_key');
  expect(await codeOf(rings.current())).toBe('devices_disagree');
  expect(await mayNot(await rings.change({ remove: [other.id] }))).toBe('taken');
});

test('a device that was stopped goes on where another one has removed the stolen one', async () => {
  const { phone, laptop, thief, second, says, numbered, service, rings } = await account();
  await says(thief, numbered(FAR));
  const third = await nextRing(second, laptop, { remove: [thief.id] });
  service.rings.push(third.text);
  expect(await rings.current()).toMatchObject({ seen: 3 });
  // Nothing that a removed device says counts, even with the help of the service.
  const ofPhone = await loadKeyring(phone.store, NOW);
  expect(await says(thief, numbered(FAR), ofPhone)).not.toMatchObject({ kind: 'opened' });
  expect(await mayNot((await rings.current()) as Keyring)).toBe('taken');
});

test('a removed device and a service cannot hide the ring without it: another member has named that ring', async () => {
  const { phone, laptop, thief, second, says, service, rings } = await account();
  const third = await nextRing(second, laptop, { remove: [thief.id] });
  expect(await says(laptop, third)).toMatchObject({ kind: 'waits' });
  // The thief signs as many rings of its own as it likes, but none is the ring that the laptop has named.
  const forged = await nextRing(second, thief, { add: [(await makePerson('thief-3')).asks] });
  service.rings.push(forged.text, (await nextRing(forged, thief, { add: [(await makePerson('thief-4')).asks] })).text);
  expect(await codeOf(rings.current())).toBe('devices_disagree');
  expect(await mayNot(await loadKeyring(phone.store, NOW))).toBe('devices_disagree');
});

// Proves G35.
test('a removed device cannot undo what a member has named by taking that member out and putting it in again', async () => {
  const { phone, laptop, thief, second, says, service, rings } = await account();
  await says(laptop, await nextRing(second, laptop, { remove: [thief.id] }));
  const without = await nextRing(second, thief, { remove: [laptop.id] });
  service.rings.push(without.text);
  await rings.current();
  service.rings.push((await nextRing(without, thief, { add: [laptop.asks] })).text);
  expect(await codeOf(rings.current())).toBe('devices_disagree');
  expect(await mayNot(await loadKeyring(phone.store, NOW))).toBe('devices_disagree');
});

test('of devices that left, the eighty words that came first are kept, beside those of members', async () => {
  const { laptop, thief, second } = await account();
  const word = { n: 9, hash: 'of-nobody' };
  const left = Array.from({ length: 81 }, (_, at) => [`left-${at}`, word] as const);
  const said = Object.fromEntries([...left, [laptop.asks.sig, word], [thief.asks.sig, word]]);
  const { named: kept, isFull } = keptNamed(said, [second]);
  expect(Object.keys(kept).slice(-3)).toEqual(['left-79', laptop.asks.sig, thief.asks.sig]);
  expect([Object.keys(kept).length, isFull]).toEqual([82, true]);
});

test.each([
  [79, 'taken', 'taken'],
  [80, 'unknown_key', 'devices_disagree'],
])(
  'after the words of %d devices that left, sealing is %s, because further words would be forgotten',
  async (count, sealing, outcome) => {
    const { phone, laptop, rings, service, second } = await account();
    const named = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`left-${at}`, { n: 9, hash: 'of-nobody' }]),
    );
    const record = await phone.store.load();
    if (record === null) throw new Error('There is no record');
    await phone.store.save({ ...record, named });
    service.rings.push((await nextRing(second, laptop, {})).text);
    await codeOf(rings.current());
    expect(await mayNot(await loadKeyring(phone.store, NOW))).toBe(sealing);
    expect(await codeOf(rings.current())).toBe(outcome);
  },
);

test('a service cannot silence the member that knows the rings which it hides', async () => {
  const { phone, laptop, thief, second, says, ofPhone, rings } = await account();
  await says(laptop, await nextRing(second, laptop, { remove: [thief.id] }));
  await rings.noteRemoved(laptop.id);
  expect(await noteListed(phone.store, await loadKeyring(phone.store, NOW), [], [NOW, NOW])).toEqual([]);
  const later = NOW + 100 * 86_400_000;
  expect(await noteListed(phone.store, ofPhone, [], [later, later])).toEqual([]);
});

// Proves G36.
test('content that proves another chain stops sealing, also after a restart, until its device is linked anew', async () => {
  const { phone, laptop, second, says, service, rings } = await account();
  const third = await nextRing(second, phone, { remove: ['thief-2'] });
  service.rings.push(third.text);
  const keyring = (await rings.current()) as Keyring;
  const fork = await nextRing(second, laptop, { add: [(await makePerson('tablet-1')).asks] });
  expect(await says(laptop, fork, keyring)).toMatchObject({ kind: 'waits', problem: { code: 'devices_disagree' } });
  expect(await codeOf(rings.current())).toBe('devices_disagree');
  expect(await mayNot(await loadKeyring(phone.store, NOW))).toBe('devices_disagree');
  const anew = await makePerson(laptop.id);
  expect(await mayNot(await rings.change({ add: [anew.asks] }))).toBe('taken');
  expect(await mayNot((await rings.current()) as Keyring)).toBe('taken');
});

test('nobody but a member proves another chain', async () => {
  const { thief, laptop, second, says, service, rings } = await account();
  service.rings.push((await nextRing(second, laptop, { remove: [thief.id] })).text);
  const keyring = (await rings.current()) as Keyring;
  const fork = await nextRing(second, laptop, { add: [(await makePerson('tablet-1')).asks] });
  await says(thief, fork, keyring);
  await says({ ...laptop, signer: { ...thief.signer, device_id: laptop.id } }, fork, keyring);
  expect(await mayNot((await rings.current()) as Keyring)).toBe('taken');
});

describe('a record of an earlier version', () => {
  /** The record keeps a number, and not who has named it. */
  async function withSeen(seen: number) {
    const { phone, thief, second, laptop } = await account();
    const record = await phone.store.load();
    if (record !== null) await phone.store.save({ ...record, seen });
    const take = (texts: readonly Ring[]) =>
      codeOf(takeKeys(phone.store, { rings: texts.map(({ text }) => text), n: 2 + texts.length, guests: null }, NOW));
    return { take, thief, second, laptop };
  }

  test('that a newer ring is in use counts until that ring comes, or a member leaves', async () => {
    const { take, thief, second, laptop } = await withSeen(4);
    expect(await take([])).toBe('devices_disagree');
    const third = await nextRing(second, laptop, { add: [(await makePerson('tablet-1')).asks] });
    expect(await take([third])).toBe('devices_disagree');
    const without = await withSeen(4);
    expect(await without.take([await nextRing(without.second, without.laptop, { remove: [thief.id] })])).toBe('taken');
  });

  test('does not believe in a number that cannot be', async () => {
    const { take } = await withSeen(FAR);
    expect(await take([])).toBe('taken');
  });
});

test('what a member has named before it got other keys ends with the old ones', async () => {
  const { phone, laptop, second, ofPhone, service, rings } = await account();
  await noteSeen(phone.store, ofPhone, naming(laptop, 7));
  service.rings.push((await nextRing(second, phone, { add: [(await makePerson(laptop.id)).asks] })).text);
  expect(await rings.current()).toMatchObject({ seen: 3 });
});

test('of the rings that one member names the newest counts, and of two of one number the first', () => {
  const [low, high, other] = [
    { n: 1, hash: 'a' },
    { n: 5, hash: 'b' },
    { n: 5, hash: 'c' },
  ];
  expect(withNamed({}, 'sig', low)).toEqual({ sig: low });
  expect(withNamed({ sig: low }, 'sig', high)).toEqual({ sig: high });
  expect(withNamed({ sig: high }, 'sig', low)).toEqual({ sig: high });
  expect(withNamed({ sig: high }, 'sig', other)).toEqual({ sig: high });
  expect(withNamed({ sig: high }, 'another', other)).toEqual({ sig: high, another: other });
  expect([highestOf(), highestOf({ sig: low, another: high })]).toEqual([0, 5]);
});

test('a ring is named by the first bytes of its hash', () => {
  const hash = Uint8Array.from({ length: 32 }, (_, at) => at);
  const named = [...Buffer.from(namedHashOf({ hash }), 'base64url')];
  expect(named).toEqual([...hash].slice(0, named.length));
});
