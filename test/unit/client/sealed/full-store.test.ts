import { checkMaySeal, keysOf, noteRemoved, noteSeen, takeKeys } from '../../../../shared/client/sealed/keyring.ts';
import { signGuests } from '../../../../shared/client/sealed/ring/guests.ts';
import type { Ring } from '../../../../shared/client/sealed/ring/ring.ts';
import { codeOf, firstRing, keyringOf, makePerson, nextRing, naming, NOW, type Person } from './people.ts';

/* The error of a full disk, or of a browser without room. */

const FULL = new Error('no room');

let [a, b]: Person[] = [];
let rings: Ring[];

beforeEach(async () => {
  [a, b] = [await makePerson('device-a'), await makePerson('device-b')];
  const first = await firstRing(a);
  rings = [first, await nextRing(first, a, { add: [b.asks] })];
});

/** Makes a device whose store takes nothing more until `frees` is called. */
async function withFullStore(guests: string | null = null) {
  const { store, signer } = a as Person;
  const keyring = await keyringOf(a as Person, rings, guests);
  const save = store.save.bind(store);
  const saved: unknown[] = [];
  store.save = () => Promise.reject(FULL);
  const take = (newest = rings, n = newest.at(-1)?.body.n ?? 0) =>
    takeKeys(store, { rings: newest.map(({ text }) => text), n, guests }, NOW).then((taken) => taken.keyring);
  const frees = () => {
    store.save = async (record) => {
      saved.push(record);
      await save(record);
    };
  };
  return { store, signer, keyring, take, frees, saved };
}

test('keeps nobody from sealing while there is nothing new to save', async () => {
  const { take, frees, saved } = await withFullStore();
  checkMaySeal(await take());
  frees();
  await take();
  expect(saved).toEqual([]);
});

test('makes a ring that cannot be kept count for nothing', async () => {
  const { take, store } = await withFullStore();
  const third = await nextRing(rings[1] as Ring, a as Person, { remove: ['device-b'] });
  await expect(take([...rings, third])).rejects.toBe(FULL);
  expect((await store.load())?.rings).toHaveLength(2);
});

test('does not make a device forget who was removed while it runs, and it keeps that as soon as there is room', async () => {
  const { enc, sig } = (await makePerson('guest-1')).asks;
  const guest = { device_id: 'guest-1', enc, sig, until: NOW + 3_600_000 };
  const list = await signGuests(rings[1] as Ring, [guest], (a as Person).signer, NOW);
  const { store, keyring, take, frees } = await withFullStore(list);
  for (const id of ['device-b', 'guest-1']) await noteRemoved(store, keyring, id);
  const known = await take();
  expect(await codeOf(Promise.resolve().then(() => checkMaySeal(known)))).toBe('rotation_due');
  expect(keysOf(known, 'guest-1', NOW)).toBeNull();
  frees();
  await take();
  expect(await store.load()).toMatchObject({ removed: ['device-b'], removedGuests: ['guest-1'] });
});

test('does not make a device forget the number of a newer ring', async () => {
  const { store, keyring, take } = await withFullStore();
  await noteSeen(store, keyring, naming(b as Person, 3));
  expect(await codeOf(take())).toBe('devices_disagree');
});
