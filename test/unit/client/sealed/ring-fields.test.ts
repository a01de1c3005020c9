import { toBase64url, utf8 } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { hashOf, readRing, type Ring, signBytes } from '../../../../shared/client/sealed/ring/ring.ts';
import { ACCOUNT, codeOf, firstRing, makePerson, nextRing } from './people.ts';

/* A ring is invalid if any field has a wrong type, is too small, too large or badly spelled. */

type Fields = Record<string, unknown>;

let ring: Ring;
let read: (says: Fields) => Promise<string>;
let member: Fields;
/** Reads the ring with other fields of its first member. */
const readMember = (says: Fields) => read({ members: [{ ...member, ...says }, ...ring.body.members.slice(1)] });

beforeAll(async () => {
  const [a, b] = await Promise.all([makePerson('device-a'), makePerson('device-b')]);
  ring = await nextRing(await firstRing(a), a, { add: [b.asks] });
  member = { ...ring.body.members[0] };
  read = async (says) => {
    const text = JSON.stringify({ ...ring.body, ...says });
    return codeOf(readRing(await signBytes('baton/1 ring', ACCOUNT, a.signer.keys, utf8(text)), ACCOUNT));
  };
});

const said = { n: 1, signature: 'A'.repeat(86) };
const gone = (count: number) => Array.from({ length: count }, (_, i) => ({ device_id: `guest-${i}`, until: i }));

test.each<Fields>([
  { n: 1_000_000 },
  { n: Number.MAX_SAFE_INTEGER },
  { epoch: 2 ** 32 - 1 },
  { older: '' },
  { older: 'AZaz09-_' },
  { words: said },
  { words: { ...said, at: 0 } },
  { words: { ...said, at: 8.64e15 } },
  { gone_guests: [] },
  { gone_guests: gone(64) },
  { gone_guests: [{ device_id: 'guest', until: -1 }] },
  { later: 'a field of a later version' },
])('is a ring: %j', async (says) => {
  expect(await read(says)).toBe('taken');
});

test.each<Fields>([
  { v: 2 },
  { v: '1' },
  { n: 0 },
  { n: 2.5 },
  { n: '2' },
  { n: 2 ** 53 },
  { epoch: 0 },
  { epoch: 2 ** 32 },
  { epoch: '1' },
  { service: null },
  { user_id: 7 },
  { prev_hash: '' },
  { prev_hash: 'A'.repeat(42) },
  { prev_hash: 'A'.repeat(44) },
  { prev_hash: `${'A'.repeat(42)}+` },
  { n: 1 },
  { key_id: 'A'.repeat(42) },
  { key_id: null },
  { older: 'A=' },
  { older: null },
  { members: {} },
  { members: [], wraps: {} },
  { wraps: [] },
  { wraps: null },
  { wraps: 'A' },
  { words: null },
  { words: { n: 1 } },
  { words: { ...said, n: 0 } },
  { words: { ...said, n: '1' } },
  { words: { ...said, at: -1 } },
  { words: { ...said, at: 0.5 } },
  { words: { ...said, at: null } },
  { words: { ...said, at: 8.64e15 + 1 } },
  { words: { ...said, signature: 'A'.repeat(85) } },
  { words: { ...said, signature: 'A'.repeat(87) } },
  { words: { ...said, signature: 86 } },
  { gone_guests: {} },
  { gone_guests: gone(65) },
  { gone_guests: [null] },
  { gone_guests: [{ device_id: 'guest', until: 0.5 }] },
  { gone_guests: [{ device_id: '', until: 1 }] },
  { gone_guests: [{ device_id: 'guest', until: '1' }] },
])('is no ring: %j', async (says) => {
  expect(await read(says)).toBe('bad_ring');
});

test.each<Fields>([
  { device_id: 'x'.repeat(64), kind: 'a'.repeat(32) },
  { kind: 'a_kind-of_later' },
  { since: 2 ** 53 - 1 },
])('is a member: %j', async (says) => {
  const id = typeof says['device_id'] === 'string' ? says['device_id'] : 'device-a';
  const { wraps, members } = ring.body;
  const renamed = { [id]: wraps['device-a'], 'device-b': wraps['device-b'] };
  expect(await read({ members: [{ ...member, ...says }, members[1]], wraps: renamed })).toBe('taken');
});

test.each<Fields>([
  { device_id: 'x'.repeat(65) },
  { device_id: 'a b' },
  { device_id: 1 },
  { kind: '' },
  { kind: 'Web' },
  { kind: '-web' },
  { kind: 'a'.repeat(33) },
  { kind: null },
  { enc: 'A' },
  { enc: null },
  { sig: 'A'.repeat(87) },
  { since: 0 },
  { since: '1' },
  { since: 1.5 },
])('is no member: %j', async (says) => {
  expect(await readMember(says)).toBe('bad_ring');
});

test('a member is no text, and no two have a key or an id in common', async () => {
  const [one, other] = ring.body.members;
  const { wraps } = ring.body;
  for (const members of [
    ['device-a', other],
    [null, other],
    [one, { ...other, enc: one?.enc }],
  ]) {
    expect(await read({ members })).toBe('bad_ring');
  }
  expect(await read({ members: [one, { ...other, sig: one?.sig }] })).toBe('bad_ring');
  expect(await read({ members: [one, { ...other, device_id: one?.device_id }] })).toBe('bad_ring');
  // Nor may a key of one member be the other key of another.
  expect(await read({ members: [one, { ...other, enc: one?.sig }] })).toBe('bad_ring');
  for (const wrap of [wraps['device-a']?.slice(0, -4), `${wraps['device-a']}AAAA`, '', null]) {
    expect(await read({ wraps: { ...wraps, 'device-a': wrap } })).toBe('bad_ring');
  }
});

test('a text that is too long, or no pair of bytes and signature, is no ring', async () => {
  const { text } = ring;
  const [bytes = '', signature = ''] = text.split('.');
  expect(await codeOf(readRing(text, ACCOUNT))).toBe('taken');
  for (const wrong of [
    bytes,
    `${text}.`,
    `${text}.AAAA`,
    `.${signature}`,
    `${bytes}.`,
    `${bytes}.${signature.slice(0, -2)}`,
    `${bytes}.${signature}AA`,
    `${bytes}=.${signature}`,
    `${toBase64url(utf8('null'))}.${signature}`,
    `${toBase64url(utf8('"ring"'))}.${signature}`,
    `${toBase64url(utf8('{'))}.${signature}`,
    `${toBase64url(Uint8Array.of(0xff, 0xfe))}.${signature}`,
  ]) {
    expect(await codeOf(readRing(wrong, ACCOUNT))).toBe('bad_ring');
  }
});

test('a ring has at most 65,536 characters', async () => {
  const [bytes = '', signature = ''] = ring.text.split('.');
  const { body } = ring;
  const filled = (length: number) => {
    const plain = JSON.stringify({ ...body, later: '' });
    const pad = Math.floor(((length - signature.length - 1) * 3) / 4) - plain.length;
    return `${toBase64url(utf8(JSON.stringify({ ...body, later: 'x'.repeat(pad) })))}.${signature}`;
  };
  expect(bytes.length).toBeLessThan(65_536);
  const [longest, tooLong] = [filled(65_536), filled(65_537 + 4)];
  expect([longest.length <= 65_536, longest.length > 65_530, tooLong.length > 65_536]).toEqual([true, true, true]);
  expect(await codeOf(readRing(longest, ACCOUNT))).toBe('taken');
  expect(await codeOf(readRing(tooLong, ACCOUNT))).toBe('bad_ring');
});

test('a ring of another account is none of this one', async () => {
  expect(await codeOf(readRing(ring.text, { ...ACCOUNT, user_id: 'user-2' }))).toBe('bad_ring');
  expect(await codeOf(readRing(ring.text, { ...ACCOUNT, service: 'https://other.example' }))).toBe('bad_ring');
  expect(hashOf(await readRing(ring.text, ACCOUNT))).toBe(hashOf(ring));
});
