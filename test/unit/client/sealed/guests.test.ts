import { createHash } from 'node:crypto';
import { utf8 } from '../../../../shared/client/sealed/primitives/bytes.ts';
import {
  type Guest,
  hashOfGuests,
  isSignedAt,
  type ListPlace,
  placeOf,
  readGuestList,
  readGuests,
  signGuests,
} from '../../../../shared/client/sealed/ring/guests.ts';
import { type Ring, signBytes } from '../../../../shared/client/sealed/ring/ring.ts';
import { ACCOUNT, codeOf, firstRing, makePerson, NOW, type Person } from './people.ts';

const DAY_MS = 86_400_000;
const MOST = 64;

let a: Person;
let ring: Ring;
let guests: Guest[];
beforeAll(async () => {
  a = await makePerson('device-a');
  ring = await firstRing(a);
  const people = await Promise.all(Array.from({ length: MOST + 1 }, (_, i) => makePerson(`guest-${i}`)));
  guests = people.map(({ asks: { device_id, enc, sig } }) => ({ device_id, enc, sig, until: NOW + DAY_MS }));
});

/** Returns a list that breaks the rules, in the form in which a member signs it. */
const signed = (list: unknown) => signBytes('baton/1 guests', ring.body, a.signer.keys, utf8(JSON.stringify(list)));
const read = async (list: unknown) => codeOf(readGuestList(await signed(list), ring, ACCOUNT));
const one = (): Guest => guests[0] as Guest;
const idsOf = (list: readonly Guest[]) => list.map(({ device_id: id }) => id);

test.each([
  ['no object', () => 'guest'],
  ['nothing', () => null],
  ['without an id', () => ({ ...one(), device_id: undefined })],
  ['with an id that is a path', () => ({ ...one(), device_id: '../x' })],
  ['with an id of 65 characters', () => ({ ...one(), device_id: 'x'.repeat(65) })],
  ['with an empty id', () => ({ ...one(), device_id: '' })],
  ['without a key to seal to', () => ({ ...one(), enc: 'x' })],
  ['without a key to sign with', () => ({ ...one(), sig: 'x' })],
  ['without an end', () => ({ ...one(), until: null })],
  ['with an end that is no whole number', () => ({ ...one(), until: 1.5 })],
])('a list with a guest that is %s is refused', async (_, guest) => {
  expect(await read({ n: 1, guests: [guest()] })).toBe('bad_ring');
  expect(await read({ n: 1, guests: [guests[1], guest()] })).toBe('bad_ring');
});

test('a list with a guest whose id has 64 characters is read', async () => {
  expect(await read({ n: 1, guests: [{ ...one(), device_id: 'x'.repeat(64) }] })).toBe('taken');
});

test.each([
  ['of no ring', () => ({ guests: [] })],
  ['of a ring that is no whole number', () => ({ n: 0.5, guests: [] })],
  ['without guests', () => ({ n: 1 })],
  ['whose guests are an object', () => ({ n: 1, guests: { 0: one() } })],
  ['of more than 64', () => ({ n: 1, guests })],
  ['that has a device twice', () => ({ n: 1, guests: [one(), { ...guests[1], device_id: one().device_id }] })],
  ['that has a key twice', () => ({ n: 1, guests: [one(), { ...guests[1], enc: one().enc }] })],
  ['whose number is below zero', () => ({ n: 1, number: -1, guests: [] })],
  ['whose number is no whole number', () => ({ n: 1, number: 0.5, guests: [] })],
  ['that is no object', () => 1],
  ['that is nothing', () => null],
])('a list %s is refused', async (_, list) => {
  expect(await read(list())).toBe('bad_ring');
});

test('a list names its own ring or an earlier one; with a newer one the rings come first', async () => {
  expect(await read({ n: 0, guests: [] })).toBe('taken');
  expect(await read({ n: 1, guests: guests.slice(0, MOST) })).toBe('taken');
  expect(await read({ n: 2, guests: [] })).toBe('unknown_key');
});

test('a guest is let in until its end, and not at it', async () => {
  const text = await signGuests(ring, [one()], a.signer, NOW);
  expect(idsOf(await readGuests(text, ring, ACCOUNT, one().until - 1))).toEqual(['guest-0']);
  expect(await readGuests(text, ring, ACCOUNT, one().until)).toEqual([]);
});

test('64 guests are let in at once; one whose time is over makes room', async () => {
  expect(await codeOf(signGuests(ring, guests, a.signer, NOW))).toBe('ring_full');
  const over = guests.with(0, { ...one(), until: NOW });
  const list = await readGuestList(await signGuests(ring, over, a.signer, NOW), ring, ACCOUNT);
  expect(idsOf(list.guests)).toEqual(idsOf(guests.slice(1)));
});

test('a list is named by the SHA-256 of its bytes; what is no list has no name', async () => {
  const text = await signGuests(ring, [one()], a.signer, NOW);
  const bytes = Buffer.from(text.split('.')[0] as string, 'base64url');
  expect(await hashOfGuests(text)).toBe(createHash('sha256').update(bytes).digest('base64url'));
  expect([await hashOfGuests(null), await hashOfGuests('no list')]).toEqual(['', '']);
});

test('a guest stays in the list for eight days after its end, by its latest entry', async () => {
  const listAt = async (now: number, given: readonly Guest[]) =>
    (await readGuestList(await signGuests(ring, given, a.signer, now), ring, ACCOUNT)).guests;
  const end = one().until;
  const twice = [{ ...one(), until: end - 1 }, one()];
  expect(await listAt(end + 8 * DAY_MS - 1, twice)).toEqual([one()]);
  expect(await listAt(end + 8 * DAY_MS, twice)).toEqual([]);
});

test('a list has the number after that of the list that it replaces, and the first number at a new ring', async () => {
  const placeAfter = async (after: ListPlace | null) => placeOf(await signGuests(ring, [], a.signer, NOW, after));
  expect(await placeAfter(null)).toEqual({ n: 1, number: 1 });
  expect(await placeAfter({ n: 1, number: 5 })).toEqual({ n: 1, number: 6 });
  expect(await placeAfter({ n: 0, number: 5 })).toEqual({ n: 1, number: 1 });
});

test('a list of an earlier version, which has no number, is older than all others of its ring', async () => {
  expect(placeOf(await signed({ n: 1, guests: [] }))).toEqual({ n: 1, number: 0 });
  expect([placeOf('no list'), placeOf(await signed('guest'))]).toEqual([null, null]);
});

test('a list is signed at a ring only by its members', async () => {
  const text = await signGuests(ring, [one()], a.signer, NOW);
  const other = await firstRing(await makePerson('device-b'));
  expect(await isSignedAt(text, ring, ACCOUNT)).toBe(true);
  expect(await isSignedAt(text, other, ACCOUNT)).toBe(false);
  expect(await isSignedAt('no list', ring, ACCOUNT)).toBe(false);
});
