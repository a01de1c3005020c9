import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileKeys } from '../../../../shared/client/node/keys.ts';
import { adoptFirstRing, adoptRing, takeKeys } from '../../../../shared/client/sealed/keyring.ts';
import { keepDeviceKeys, type KeyStore } from '../../../../shared/client/sealed/keys/key-store.ts';
import { type Guest, type ListPlace, signGuests } from '../../../../shared/client/sealed/ring/guests.ts';
import { makeFirstRing } from '../../../../shared/client/sealed/ring/change.ts';
import { hashOf, type Ring } from '../../../../shared/client/sealed/ring/ring.ts';
import { ACCOUNT, makePerson, nextRing, NOW, type Person } from './people.ts';

/* A device never goes back to an older list of guests, although each list is genuine. */

const folder = mkdtempSync(join(tmpdir(), 'baton-'));
afterAll(() => rmSync(folder, { recursive: true }));

let a: Person;
let store: KeyStore;
let ring: Ring;
let names = 0;

beforeEach(async () => {
  store = fileKeys(join(folder, `${(names += 1)}.json`));
  const { keys } = await keepDeviceKeys(store);
  a = { ...(await makePerson('device-a')), store, signer: { device_id: 'device-a', keys } };
  ring = await makeFirstRing(ACCOUNT, { ...a.signer, kind: 'cli' });
  await adoptFirstRing(store, { ...ACCOUNT, device_id: 'device-a' }, ring.text, NOW);
});

async function guestOf(id: string): Promise<Guest> {
  const { enc, sig } = (await makePerson(id)).asks;
  return { device_id: id, enc, sig, until: NOW + 3_600_000 };
}
const listOf = (guests: readonly Guest[], after: ListPlace | null = null, at = ring) =>
  signGuests(at, guests, a.signer, NOW, after);
const numbered = (number: number, n = ring.body.n): ListPlace => ({ n, number });

/**
 * Shows the device this list. Each time the device reads its file again, as after a restart. Returns what it believes.
 */
async function shown(guests: string | null, rings: readonly Ring[] = [ring]) {
  const n = rings.at(-1)?.body.n ?? 0;
  const { keyring, listProblem } = await takeKeys(store, { rings: rings.map(({ text }) => text), n, guests }, NOW);
  return { listProblem, encs: keyring.guests.map(({ enc }) => enc) };
}

test('an older list is refused, and the newer one counts', async () => {
  const [old, now] = [await guestOf('guest-1'), await guestOf('guest-1')];
  const [first, second] = [await listOf([old]), await listOf([now], numbered(1))];
  expect(await shown(first)).toEqual({ listProblem: null, encs: [old.enc] });
  const newest = { listProblem: null, encs: [now.enc] };
  expect(await shown(second)).toEqual(newest);
  for (const older of [first, null]) expect(await shown(older)).toEqual({ ...newest, listProblem: 'devices_disagree' });
  expect(await shown(second)).toEqual(newest);
});

test('a list of a later ring is newer than any of an earlier one; without a number it is the first of its ring', async () => {
  const [one, two, three] = [await guestOf('guest-1'), await guestOf('guest-2'), await guestOf('guest-3')];
  const second = await nextRing(ring, a, { add: [(await makePerson('device-b')).asks] });
  const [high, later] = [await listOf([one], numbered(40)), await listOf([two], numbered(41), second)];
  expect(await shown(high)).toMatchObject({ encs: [one.enc] });
  expect(await shown(later, [ring, second])).toEqual({ listProblem: null, encs: [two.enc] });
  expect(await shown(high, [second])).toEqual({ listProblem: 'devices_disagree', encs: [two.enc, one.enc] });
  expect(await shown(await listOf([three], numbered(1, 2), second), [second])).toMatchObject({ encs: [three.enc] });
});

test('of lists without a number, as an earlier version signs them, the one that is shown counts', async () => {
  const [one, two] = [await guestOf('guest-1'), await guestOf('guest-2')];
  const unnumbered = (guests: Guest[]) => listOf(guests, numbered(-1));
  for (const each of [one, two, one]) {
    expect(await shown(await unnumbered([each]))).toEqual({ listProblem: null, encs: [each.enc] });
  }
  await shown(await listOf([two]));
  expect(await shown(await unnumbered([one]))).toMatchObject({ listProblem: 'devices_disagree' });
});

test('beside an older list, or another one in the same place, the own one counts, with whom the other one lets in', async () => {
  const [old, now, other] = [await guestOf('guest-1'), await guestOf('guest-1'), await guestOf('guest-2')];
  await shown(await listOf([old]));
  await shown(await listOf([now], numbered(1)));
  const fork = await listOf([old, other], numbered(1));
  expect(await shown(fork)).toEqual({ listProblem: 'devices_disagree', encs: [now.enc, other.enc] });
});

test('keys that a newer list replaced never count again, whoever signs them anew', async () => {
  const [old, now, other] = [await guestOf('guest-1'), await guestOf('guest-1'), await guestOf('guest-2')];
  await shown(await listOf([old]));
  await shown(await listOf([now], numbered(1)));
  expect(await shown(await listOf([old, other], numbered(2)))).toEqual({ listProblem: null, encs: [other.enc] });
  expect(await shown(await listOf([now, other], numbered(3)))).toMatchObject({ encs: [now.enc, other.enc] });
});

test('a list that no member signed lets nobody in, and is refused: the known one counts', async () => {
  const [one, stranger] = [await guestOf('guest-1'), await makePerson('device-x')];
  const b = await makePerson('device-b');
  const forge = (by: Person, after: ListPlace | null, at = ring) =>
    guestOf('guest-2').then((guest) => signGuests(at, [guest], by.signer, NOW, after));
  const unsigned = { listProblem: 'bad_guests', encs: [] as string[] };
  expect(await shown(await forge(stranger, null))).toEqual(unsigned);
  const list = await listOf([one]);
  await shown(list);
  const known = { ...unsigned, encs: [one.enc] };
  for (const text of [await forge(stranger, numbered(8)), 'x', `${list}x`]) expect(await shown(text)).toEqual(known);

  const second = await nextRing(ring, a, { add: [b.asks] });
  const third = await nextRing(second, a, { remove: ['device-b'] });
  // A device that has left signs for a ring without it. A device that is yet to come signs for a ring that this device
  // does not know.
  expect(await shown(await forge(b, null, third), [second, third])).toEqual(known);
  const fourth = await nextRing(third, a, { add: [stranger.asks] });
  expect(await shown(await forge(stranger, null, fourth), [third])).toEqual({ ...known, listProblem: 'unknown_key' });
  expect(await shown(list, [third])).toEqual({ ...known, listProblem: null });
});

test('a list whose signer has left lets nobody in, and blocks nothing else', async () => {
  const [one, b] = [await guestOf('guest-1'), await makePerson('device-b')];
  const second = await nextRing(ring, a, { add: [b.asks] });
  const third = await nextRing(second, a, { remove: ['device-b'] });
  const [list, ofB] = [await listOf([one]), await signGuests(second, [await guestOf('guest-2')], b.signer, NOW)];
  await shown(list, [ring, second]);
  expect(await shown(ofB, [second, third])).toEqual({ listProblem: null, encs: [] });
  expect(await shown(list, [third])).toEqual({ listProblem: null, encs: [one.enc] });
  expect((await shown(await listOf([one], null, second), [third])).encs).toHaveLength(1);
  expect(await shown(ofB, [third])).toEqual({ listProblem: 'devices_disagree', encs: [one.enc] });
});

test('a list of a member that this device has never known is refused, until a member signs it anew', async () => {
  const [b, guest] = [await makePerson('device-b'), await guestOf('guest-1')];
  const second = await nextRing(ring, a, { add: [b.asks] });
  const third = await nextRing(second, a, { remove: ['device-b'] });
  const account = { ...ACCOUNT, device_id: 'device-a' };
  await adoptRing(store, { account, n: 3, hash: hashOf(third) }, [third.text], NOW);
  const ofB = await signGuests(second, [guest], b.signer, NOW);
  expect(await shown(ofB, [third])).toEqual({ listProblem: 'bad_guests', encs: [] });
  expect(await shown(await listOf([guest], null, third), [third])).toEqual({ listProblem: null, encs: [guest.enc] });
});

test('a device that is linked anew begins with the list that it is shown', async () => {
  const [one, two] = [await guestOf('guest-1'), await guestOf('guest-2')];
  const [first, second] = [await listOf([one]), await listOf([two], numbered(1))];
  await shown(second);
  const account = { ...ACCOUNT, device_id: 'device-a' };
  await adoptRing(store, { account, n: 1, hash: hashOf(ring) }, [ring.text], NOW);
  expect(await shown(first)).toEqual({ listProblem: null, encs: [one.enc] });
});
