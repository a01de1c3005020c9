import fc from 'fast-check';
import { loadKeyring, noteSeen, takeKeys } from '../../../../shared/client/sealed/keyring.ts';
import { fromBase64url, toBase64url, utf8 } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { openAccountKeys, OLDER_MS } from '../../../../shared/client/sealed/ring/account-keys.ts';
import { readBack, walkChain } from '../../../../shared/client/sealed/ring/chain.ts';
import { readGuests, signGuests } from '../../../../shared/client/sealed/ring/guests.ts';
import { hashOf, isGone, type Ring, type RingBody, signBytes } from '../../../../shared/client/sealed/ring/ring.ts';
import { hasStated, keysOfWords, makeWords, signStatement } from '../../../../shared/client/sealed/ring/words.ts';
import { publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { ACCOUNT, codeOf, firstRing, keyringOf, makePerson, naming, nextRing, NOW, type Person } from './people.ts';

const keyText = async (ring: Ring, { signer }: Person, now = NOW) =>
  (await openAccountKeys(ring, signer, now)).map(({ epoch, key }) => `${epoch} ${toBase64url(key)}`);

/** Returns a ring that says something else, with a valid signature. */
async function forge(ring: Ring, by: Person, says: Partial<RingBody> & Record<string, unknown>): Promise<string> {
  return signBytes('baton/1 ring', ACCOUNT, by.signer.keys, utf8(JSON.stringify({ ...ring.body, ...says })));
}

async function three() {
  const [a, b, c] = await Promise.all([makePerson('device-a'), makePerson('device-b'), makePerson('device-c')]);
  const first = await firstRing(a);
  const second = await nextRing(first, a, { add: [b.asks] });
  const third = await nextRing(second, b, { add: [c.asks] });
  return { a, b, c, first, second, third, texts: [first, second, third].map(({ text }) => text) };
}

test('a member that comes in gets the key in force, and one that goes gets none of those after', async () => {
  const { a, b, c, first, third } = await three();
  const without = await nextRing(third, a, { remove: ['device-b'] });

  expect(await keyText(third, c)).toEqual(await keyText(first, a));
  expect(without.body.epoch).toBe(2);
  expect(await keyText(without, a)).toEqual(await keyText(without, c));
  expect(await keyText(without, c)).toEqual([expect.stringMatching(/^2 /), ...(await keyText(first, a))]);
  expect(await codeOf(keyText(without, b))).toBe('not_a_member');
  expect(Object.keys(without.body.wraps)).toEqual(['device-a', 'device-c']);
});

test('a key that was replaced opens for 8 days, and is in no ring after that', async () => {
  const { a, third } = await three();
  const rotated = await nextRing(third, a, { remove: ['device-b'] });
  const later = await nextRing(rotated, a, { remove: ['device-c'] }, NOW + OLDER_MS);

  expect(await keyText(rotated, a, NOW + OLDER_MS - 1)).toHaveLength(2);
  expect(await keyText(rotated, a, NOW + OLDER_MS)).toHaveLength(1);
  expect(await keyText(later, a, NOW)).toHaveLength(2);
});

test('other keys for the same device are a rotation too', async () => {
  const { a, b, third } = await three();
  const anew = await makePerson('device-b');
  const relinked = await nextRing(third, a, { add: [anew.asks] });

  expect(relinked.body.epoch).toBe(2);
  expect(relinked.body.members.filter(({ device_id }) => device_id === 'device-b')).toEqual([
    expect.objectContaining({ enc: anew.asks.enc, since: 4 }),
  ]);
  expect(await codeOf(openAccountKeys(relinked, b.signer, NOW))).toBe('bad_ring');
});

test('a device walks from its pin to the ring in force, page by page', async () => {
  const { a, texts, third } = await three();
  const walked = await walkChain([], texts.slice(0, 2), ACCOUNT);
  const all = await walkChain(walked, texts.slice(1), ACCOUNT);

  expect(all.map(({ body }) => body.n)).toEqual([1, 2, 3]);
  expect(hashOf(all[2] as Ring)).toBe(hashOf(third));
  expect((await readBack(all.slice(2), texts, ACCOUNT)).map(({ body }) => body.n)).toEqual([1, 2, 3]);
  expect((await keyringOf(a, all)).ring.body.n).toBe(3);
  expect((await loadKeyring(a.store, NOW)).ring.body.n).toBe(3);
});

test('what is no ring of the account is refused', async () => {
  const { a, b, c, first, second, third } = await three();
  const stranger = await makePerson('stranger');
  const known = [first, second];
  const walk = (text: string) => codeOf(walkChain(known, [text], ACCOUNT));
  const { members, wraps, n } = third.body;
  const forged = { ...members[0], device_id: 'device-x' };
  const said = { n: 1, signature: 'A'.repeat(86) };
  const refused: Record<string, string> = {
    'a wrong signer': await forge(third, stranger, {}),
    'one that only the new ring has': await forge(third, c, {}),
    'a number that is left out': await forge(third, b, { n: n + 1 }),
    'another account': await forge(third, b, { user_id: 'user-2' }),
    'another service': await forge(third, b, { service: 'https://other.example' }),
    'a member with the keys of another': await forge(third, b, { members: [...members, forged as never] }),
    'a member twice': await forge(third, b, { members: [...members, members[0] as never] }),
    'a member without a wrap': await forge(third, b, { wraps: Object.fromEntries(Object.entries(wraps).slice(1)) }),
    'a wrap for nobody': await forge(third, b, { wraps: { ...wraps, other: wraps['device-a'] as string } }),
    'a member gone under the same key': await forge(third, b, {
      members: members.slice(1),
      wraps: Object.fromEntries(Object.entries(wraps).slice(1)),
    }),
    'an epoch that goes back': await forge(third, b, { epoch: 0 }),
    'an epoch with the same key': await forge(third, b, { epoch: 2 }),
    'a key that changed under its epoch': await forge(third, b, { key_id: 'A'.repeat(43) }),
    'a date that is not true': await forge(third, b, { members: members.map((each) => ({ ...each, since: 1 })) }),
    'a member with another key to seal to': await forge(third, b, {
      members: members.map((each) => (each.device_id === 'device-a' ? { ...each, enc: stranger.asks.enc } : each)),
    }),
    'a member with another key to sign with': await forge(third, b, {
      members: members.map((each) => (each.device_id === 'device-a' ? { ...each, sig: stranger.asks.sig } : each)),
    }),
    'no member': await forge(third, b, { members: [], wraps: {} }),
    'words of a time before all times': await forge(third, b, { words: { ...said, at: -1 } }),
    'words of a time that no date has': await forge(third, b, { words: { ...said, at: 8.64e15 + 1 } }),
    truncated: third.text.slice(0, -10),
    'another label': await signBytes('baton/1 guests', ACCOUNT, b.signer.keys, third.bytes),
    'a field twice': await signBytes(
      'baton/1 ring',
      ACCOUNT,
      b.signer.keys,
      utf8(JSON.stringify(third.body).replace('"n":3', '"n":9,"n":3')),
    ),
  };
  for (const [what, text] of Object.entries(refused)) {
    const found = await walk(text);
    expect(`${what}: ${found}`).toMatch(/: (bad_ring|link_again)$/);
  }
  expect(await walk(third.text)).toBe('taken');
  expect(await walk(await forge(third, b, { prev_hash: hashOf(first) }))).toBe('devices_disagree');
  expect(await walk(await forge(third, b, {}))).toBe('taken');
  for (const at of [0, 8.64e15]) expect(await walk(await forge(third, b, { words: { ...said, at } }))).toBe('taken');
  expect(await walk(await forge(third, b, { words: said }))).toBe('taken');
  // A leaving member does not sign the ring without it, because it would know the new key.
  const leaving = await nextRing(third, a, { remove: ['device-b'] });
  const signed = await signBytes('baton/1 ring', ACCOUNT, b.signer.keys, leaving.bytes);
  expect(await codeOf(walkChain([third], [signed], ACCOUNT))).toBe('bad_ring');
  expect(await codeOf(nextRing(third, a, { remove: ['device-a'] }))).toBe('not_a_member');
});

test('a member does not sign the ring that replaces its keys: the old ones may be in other hands', async () => {
  const { a, b, third } = await three();
  const relinked = await nextRing(third, a, { add: [(await makePerson('device-b')).asks] });
  const text = await signBytes('baton/1 ring', ACCOUNT, b.signer.keys, relinked.bytes);
  expect(await codeOf(walkChain([third], [text], ACCOUNT))).toBe('bad_ring');
  expect(await codeOf(walkChain([third], [relinked.text], ACCOUNT))).toBe('taken');
});

test('the first ring is made, signed and held by one member', async () => {
  const { a, b, first, second } = await three();
  const [own] = first.body.members;
  const walk = async (text: string) => codeOf(walkChain([], [text], ACCOUNT));
  const both = { members: second.body.members.map((each) => ({ ...each, since: 1 })), wraps: second.body.wraps };
  expect(await walk(first.text)).toBe('taken');
  for (const says of [{ epoch: 2 }, both, { members: [{ ...own, since: 2 }] }, { n: 2, prev_hash: hashOf(first) }]) {
    expect(await walk(await forge(first, a, says as Partial<RingBody>))).toBe('bad_ring');
  }
  expect(await walk(await forge(first, b, {}))).toBe('bad_ring');
});

test('a ring says which guests were removed', async () => {
  const { a, third } = await three();
  const later = await nextRing(third, a, { removeGuests: [{ device_id: 'guest-1', until: NOW }] });
  expect([isGone(third, 'guest-1'), isGone(later, 'guest-1'), isGone(later, 'guest-2')]).toEqual([false, true, false]);
});

test('a removed member signs no ring any more', async () => {
  const { a, b, third } = await three();
  const without = await nextRing(third, a, { remove: ['device-b'] });
  const honest = await nextRing(without, a, { add: [(await makePerson('device-d')).asks] });
  const text = await signBytes('baton/1 ring', ACCOUNT, b.signer.keys, honest.bytes);
  expect(await codeOf(walkChain([without], [text], ACCOUNT))).toBe('bad_ring');
  expect(await codeOf(walkChain([without], [honest.text], ACCOUNT))).toBe('taken');
});

test('a fork and a roll-back are found; what the store has lost is put back', async () => {
  const { a, b, first, second, third } = await three();
  const fork = await nextRing(second, a, { add: [(await makePerson('device-e')).asks] });
  const onFork = await nextRing(fork, a, { add: [(await makePerson('device-f')).asks] });
  const keyring = await keyringOf(a, [first, second, third]);
  const take = (texts: readonly Ring[], n: number) =>
    takeKeys(a.store, { rings: texts.map(({ text }) => text), n, guests: null }, NOW);

  expect(await codeOf(take([fork], 3))).toBe('devices_disagree');
  expect(await codeOf(take([onFork], 4))).toBe('devices_disagree');
  expect((await take([], 1)).putBack).toEqual([second.text, third.text]);
  expect((await take([], 3)).putBack).toEqual([]);
  await noteSeen(a.store, keyring, naming(b, 5));
  expect(await codeOf(take([], 3))).toBe('devices_disagree');
  // The device was away for longer than rings are kept.
  const fifth = await nextRing(await nextRing(third, b, { remove: ['device-c'] }), b, { remove: ['device-a'] });
  expect(await codeOf(walkChain([third], [fifth.text], ACCOUNT))).toBe('link_again');
});

test('guests are those that a member of the ring in force has signed, as long as they are let in', async () => {
  const { a, c, first, second, third } = await three();
  const guest = await makePerson('guest-1');
  const { enc, sig } = guest.asks;
  const entry = { device_id: 'guest-1', enc, sig, until: NOW + 1 };
  const text = await signGuests(third, [entry, { ...entry, until: NOW - 1 }], a.signer, NOW);
  const read = (list: string, ring = third) => codeOf(readGuests(list, ring, ACCOUNT, NOW));

  expect(await readGuests(text, third, ACCOUNT, NOW)).toEqual([entry]);
  expect(await readGuests(text, third, ACCOUNT, NOW + 1)).toEqual([]);
  expect((await keyringOf(a, [first, second, third], text)).guests).toEqual([entry]);
  expect(await read(await signGuests(third, [entry], guest.signer, NOW))).toBe('wrong_signer');
  expect(await read(await signGuests(third, [entry], c.signer, NOW), second)).toBe('unknown_key');
  expect(await read(text.slice(1))).toBe('bad_ring');
  // A guest under the id of a member would be shown as that member.
  const posing = await signGuests(third, [{ ...entry, device_id: 'device-c' }], a.signer, NOW);
  expect(await readGuests(posing, third, ACCOUNT, NOW)).toEqual([]);
});

test('recovery words are a member, whatever is rotated meanwhile', async () => {
  const { a, third, first } = await three();
  const words = await makeWords();
  const keys = await keysOfWords(words);
  const asks = { device_id: 'recovery-words', kind: 'words', ...(await publicKeysOf(keys)) };
  const withWords = await nextRing(third, a, { add: [asks] });
  const rotated = await nextRing(withWords, a, { remove: ['device-b'] });
  const anew = await makePerson('device-new');
  const typed = await keysOfWords(`  ${words.toUpperCase().replaceAll(' ', '\n ')} `);
  const signer = { device_id: 'recovery-words', keys: typed };
  const recovered = await nextRing(rotated, { ...a, signer }, { add: [anew.asks], remove: ['device-a', 'device-c'] });
  const statement = { first, n: 4 };
  const said = await signStatement(statement, keys);

  expect(words.split(' ')).toHaveLength(24);
  expect(
    await codeOf(
      walkChain(
        [third],
        [withWords, rotated, recovered].map(({ text }) => text),
        ACCOUNT,
      ),
    ),
  ).toBe('taken');
  expect(await keyText(recovered, anew)).toHaveLength(3);
  expect(await hasStated(said, statement, asks)).toBe(true);
  expect(await hasStated(said, { first: third, n: 4 }, asks)).toBe(false);
  expect(await hasStated(said, { first, n: 5 }, asks)).toBe(false);
  expect(await codeOf(keysOfWords(words.replace(/^\S+/, 'zebraa')))).toBe('bad_words');
  expect(await codeOf(keysOfWords(words.split(' ').slice(1).join(' ')))).toBe('bad_words');
});

test('eighty members fit into a ring, and no more', async () => {
  const a = await makePerson('device-0');
  const others = await Promise.all(Array.from({ length: 80 }, (_, i) => makePerson(`0123456789abcdef0123456789-${i}`)));
  const full = await nextRing(await firstRing(a), a, { add: others.slice(0, 79).map(({ asks }) => asks) });
  expect(full.body.members).toHaveLength(80);
  expect(full.text.length).toBeLessThanOrEqual(65_536);
  expect(fromBase64url(full.text.split('.')[1] as string)).toHaveLength(64);
  expect(await codeOf(nextRing(full, a, { add: [(others[79] as Person).asks] }))).toBe('ring_full');
});

interface Model {
  members: string[];
  epoch: number;
}

test('whatever comes and goes: every member opens the key in force, nobody else does, and every device can walk', async () => {
  const people = await Promise.all(Array.from({ length: 5 }, (_, i) => makePerson(`device-${i}`)));
  const step = fc.record({
    does: fc.constantFrom('add', 'remove', 'relink'),
    by: fc.nat(4),
    whom: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const now = new Map(people.map((each) => [each.id, each]));
      const model: Model = { members: ['device-0'], epoch: 1 };
      const rings = [await firstRing(people[0] as Person)];
      for (const { does, by, whom } of steps) {
        const [newest, signer, other] = [rings.at(-1) as Ring, now.get(`device-${by}`), `device-${whom}`];
        const isIn = model.members.includes(other);
        if (signer === undefined || !model.members.includes(signer.id) || other === signer.id) continue;
        if (does === 'remove' ? !isIn : does === 'relink' && !isIn) continue;
        if (does === 'relink') now.set(other, await makePerson(other));
        const change = does === 'remove' ? { remove: [other] } : { add: [(now.get(other) as Person).asks] };
        rings.push(await nextRing(newest, signer, change));
        model.members =
          does === 'remove' ? model.members.filter((id) => id !== other) : [...new Set([...model.members, other])];
        model.epoch += does === 'add' ? 0 : 1;
      }
      const newest = rings.at(-1) as Ring;
      const walked = await walkChain(
        [],
        rings.map(({ text }) => text),
        ACCOUNT,
      );
      expect(hashOf(walked.at(-1) as Ring)).toBe(hashOf(newest));
      expect(newest.body.members.map(({ device_id }) => device_id).sort()).toEqual(model.members.toSorted());
      expect(newest.body.epoch).toBe(model.epoch);
      const keys = await Promise.all([...now.values()].map((each) => codeOf(keyText(newest, each))));
      expect([...now.keys()].filter((_, i) => keys[i] === 'taken').sort()).toEqual(model.members.toSorted());
      const opened = await Promise.all(model.members.map((id) => keyText(newest, now.get(id) as Person)));
      expect(new Set(opened.map(([key]) => key)).size).toBe(1);
    }),
    { numRuns: 40 },
  );
});
