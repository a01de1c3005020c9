import { aesKey, aesSeal } from '../../../../shared/client/sealed/primitives/aes.ts';
import { concat, randomBytes, toBase64url, u32, u64 } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { hkdf } from '../../../../shared/client/sealed/primitives/hkdf.ts';
import { hpkeSeal, readEnc } from '../../../../shared/client/sealed/primitives/hpke.ts';
import { parts } from '../../../../shared/client/sealed/primitives/parts.ts';
import { pointIn } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { keyIdOf, openAccountKeys, OLDER_MS } from '../../../../shared/client/sealed/ring/account-keys.ts';
import type { RingChange } from '../../../../shared/client/sealed/ring/change.ts';
import { MOST_GONE, type Ring, type RingBody, signRing } from '../../../../shared/client/sealed/ring/ring.ts';
import { ACCOUNT, codeOf, firstRing, makePerson, nextRing, NOW, type Person } from './people.ts';

/* The next ring keeps everything that its change does not touch, and gives the keys of the account to its members. */

let [a, b, words]: Person[] = [];
let first: Ring;
const next = (ring: Ring, change: RingChange, now = NOW) => nextRing(ring, a as Person, change, now);
const asksOf = (person: Person | undefined) => (person as Person).asks;
beforeAll(async () => {
  [a, b] = [await makePerson('device-a'), await makePerson('device-b')];
  words = await makePerson('recovery-words', 'words');
  first = await firstRing(a);
});

const said = (n: number) => ({ n, signature: String(n).repeat(86) });

test('a device whose id is a word of the language stays in the ring like any other', async () => {
  let ring = first;
  for (const id of ['constructor', '__proto__', 'valueOf']) {
    const person = await makePerson(id);
    ring = await next(ring, { add: [person.asks] });
    const later = await next(ring, { add: [asksOf(b)] });
    expect(await openAccountKeys(later, person.signer, NOW)).toHaveLength(1);
    expect(later.body.wraps[id]).toBe(ring.body.wraps[id]);
  }
});

describe('what recovery words have said', () => {
  test('comes with them, stays with them, and goes with them', async () => {
    const made = await next(first, { add: [asksOf(words)], words: said(1) });
    const later = await next(made, { add: [asksOf(b)] });
    const gone = await next(later, { remove: ['recovery-words'] });
    expect([made.body.words, later.body.words]).toEqual([said(1), said(1)]);
    expect(gone.body).not.toHaveProperty('words');
  });

  test('is of no ring without words', async () => {
    expect((await next(first, { words: said(1) })).body).not.toHaveProperty('words');
    expect((await next(first, { add: [asksOf(words)] })).body).not.toHaveProperty('words');
  });

  test('is not that of words which were made anew', async () => {
    const made = await next(first, { add: [asksOf(words)], words: said(1) });
    const other = await makePerson('recovery-words', 'words');
    expect((await next(made, { add: [other.asks] })).body).not.toHaveProperty('words');
    expect((await next(made, { add: [other.asks], words: said(2) })).body.words).toEqual(said(2));
  });

  test('is renewed by the words of the ring, and by no others', async () => {
    const made = await next(first, { add: [asksOf(words)], words: said(1) });
    const other = await makePerson('recovery-words', 'words');
    expect((await next(made, { words: said(2), renewedBy: asksOf(words) })).body.words).toEqual(said(2));
    expect((await next(made, { words: said(2), renewedBy: other.asks })).body.words).toEqual(said(1));
    const without = await next(made, { remove: ['recovery-words'] });
    expect((await next(without, { words: said(2), renewedBy: asksOf(words) })).body).not.toHaveProperty('words');
  });
});

describe('guests that were removed', () => {
  const guest = (id: number, until: number) => ({ device_id: `guest-${id}`, until });

  test('are named in every later ring, and by nothing but their id and their time', async () => {
    const one = await next(first, { removeGuests: [{ ...guest(1, NOW + 1), enc: 'key' } as never] });
    const two = await next(one, { removeGuests: [guest(2, NOW + 2)] });
    expect(one.body.gone_guests).toEqual([guest(1, NOW + 1)]);
    expect((await next(two, { add: [asksOf(b)] })).body.gone_guests).toEqual([guest(2, NOW + 2), guest(1, NOW + 1)]);
    expect(first.body).not.toHaveProperty('gone_guests');
  });

  test('are left out where there are too many: those first whose time ends first', async () => {
    const many = Array.from({ length: MOST_GONE }, (_, i) => guest(i, NOW + i));
    const full = await next(first, { removeGuests: many });
    expect(full.body.gone_guests).toHaveLength(MOST_GONE);
    const more = await next(full, { removeGuests: [guest(100, NOW + 100)] });
    expect(more.body.gone_guests?.map(({ device_id }) => device_id)).toEqual([
      'guest-100',
      ...many
        .slice(1)
        .toReversed()
        .map(({ device_id }) => device_id),
    ]);
  });
});

describe('members of the next ring', () => {
  test('keep their number and their wrap under the same keys', async () => {
    const both = await next(first, { add: [asksOf(b)] });
    const again = await next(both, { add: [asksOf(b), asksOf(words)] });
    expect(again.body.members.map(({ device_id, since }) => [device_id, since])).toEqual([
      ['device-a', 1],
      ['device-b', 2],
      ['recovery-words', 3],
    ]);
    expect(again.body).toMatchObject({ n: 3, epoch: 1, key_id: first.body.key_id, wraps: both.body.wraps });
  });

  test('all get another wrap with another key of the account', async () => {
    const both = await next(first, { add: [asksOf(b), asksOf(words)] });
    const rotated = await next(both, { remove: ['recovery-words'] });
    expect(rotated.body.key_id).not.toBe(both.body.key_id);
    for (const id of ['device-a', 'device-b']) expect(rotated.body.wraps[id]).not.toBe(both.body.wraps[id]);
  });

  test.each(['enc', 'sig'] as const)('a device with another key %s is a rotation', async (which) => {
    const both = await next(first, { add: [asksOf(b)] });
    const other = await makePerson('device-b');
    const anew = await next(both, { add: [{ ...asksOf(b), [which]: other.asks[which] }] });
    expect(anew.body.epoch).toBe(2);
    expect(anew.body.members[1]).toMatchObject({ device_id: 'device-b', since: 3 });
  });

  test('nobody who has no key of the account makes a ring', async () => {
    const stranger = await makePerson('device-b');
    expect(await codeOf(nextRing(first, stranger, { add: [stranger.asks] }))).toBe('not_a_member');
  });
});

describe('keys of the account', () => {
  const opened = (ring: Ring, person = a as Person, now = NOW) => openAccountKeys(ring, person.signer, now);
  /** Returns a ring with other contents, signed by its maker. */
  const ringWith = (says: Partial<RingBody>, ring = first) =>
    signRing({ ...ring.body, ...says }, (a as Person).signer.keys);

  async function older(ring: Ring, plain: Uint8Array<ArrayBuffer>): Promise<Ring> {
    const [{ key } = { key: randomBytes(32) }] = await opened(ring);
    const nonce = randomBytes(12);
    const aad = parts(['baton/1 older', ACCOUNT.service, ACCOUNT.user_id, u32(ring.body.epoch)]);
    const sealed = await aesSeal(await aesKey(await hkdf(key, 'baton/1 older')), nonce, aad, plain);
    return ringWith({ older: toBase64url(concat(nonce, sealed)) }, ring);
  }
  const entry = (epoch: number, until: number) => concat(u32(epoch), u64(until), new Uint8Array(32).fill(epoch));

  test('that were replaced are at most 64, and those that went first are left out', async () => {
    let ring = await next(first, { add: [asksOf(b)] });
    for (let turn = 0; turn < 66; turn += 1) ring = await next(ring, { add: [(await makePerson('device-b')).asks] });
    expect((await opened(ring)).map(({ epoch }) => epoch)).toEqual([
      67,
      ...Array.from({ length: 64 }, (_, i) => i + 3),
    ]);
  });

  test('that were replaced are given until their time, and in no ring before they were in force', async () => {
    const rotated = await next(await next(first, { add: [asksOf(b)] }), { remove: ['device-b'] });
    const ring = await older(rotated, concat(entry(1, NOW + 1), entry(2, NOW + 1), entry(1, NOW), entry(3, NOW + 1)));
    expect((await opened(ring)).map(({ epoch, until }) => [epoch, until])).toEqual([
      [2, null],
      [1, NOW + 1],
    ]);
    expect((await opened(rotated))[1]).toMatchObject({ epoch: 1, until: NOW + OLDER_MS });
  });

  test('are those that the ring names, sealed for this member', async () => {
    const person = a as Person;
    const point = pointIn(person.asks.enc);
    if (point === null) throw new Error('no key');
    const wrapped = async (key: Uint8Array<ArrayBuffer>, device = 'device-a', epoch = 1) => {
      const info = parts(['baton/1 wrap', ACCOUNT.service, ACCOUNT.user_id, device, u32(epoch)]);
      return { 'device-a': toBase64url(await hpkeSeal(await readEnc(point), info, key)) };
    };
    const key = randomBytes(32);
    const key_id = await keyIdOf(key);
    expect((await opened(await ringWith({ wraps: await wrapped(key), key_id })))[0]?.key).toEqual(key);
    expect(await codeOf(ringWith({ wraps: await wrapped(randomBytes(31)), key_id }))).toBe('bad_ring');
    for (const wraps of [
      await wrapped(randomBytes(32)),
      await wrapped(key, 'device-b'),
      await wrapped(key, 'device-a', 2),
    ])
      expect(await codeOf(opened(await ringWith({ wraps, key_id })))).toBe('bad_ring');
  });

  test('that were replaced are no other bytes than a member has sealed', async () => {
    const sealed = await older(first, entry(1, NOW + 1));
    expect(await opened(sealed)).toHaveLength(1);
    expect(await codeOf(opened(await older(first, concat(entry(1, NOW + 1), u32(1)))))).toBe('bad_ring');
    expect(await codeOf(opened(await ringWith({ older: 'AAAA' })))).toBe('bad_ring');
    expect(await codeOf(opened(await ringWith({ older: sealed.body.older, epoch: 2 })))).toBe('bad_ring');
    expect(await codeOf(opened(first, b))).toBe('not_a_member');
  });
});
