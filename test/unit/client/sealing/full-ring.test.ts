import { BatonClientError } from '../../../../shared/client/errors/baton-client-error.ts';
import { memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { makeRings } from '../../../../shared/client/sealing/rings.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { ACCOUNT, codeOf, firstRing, keyringOf, makePerson, nextRing, NOW, type Person } from '../sealed/people.ts';

/* A ring with as many members as it can have. */

const MOST = 80;
const noGrant = { load: async () => null, save: async () => {}, clear: async () => {} };

/** A phone with a full ring, which notes since when some of the others are not listed, and one device more. */
async function fullAccount(away: Record<string, number>) {
  const phone = await makePerson('phone-1');
  const others = await Promise.all(Array.from({ length: MOST - 1 }, (_, i) => makePerson(`other-${i}`)));
  const first = await firstRing(phone);
  const full = await nextRing(first, phone, { add: others.map(({ asks }) => asks) });
  await keyringOf(phone, [first, full]);
  await phone.store.save({ ...(await phone.store.load()), away } as Parameters<typeof phone.store.save>[0]);
  const stored = [first.text, full.text];
  const call = async (name: string, { body, headers }: { body?: { ring: string }; headers?: object } = {}) => {
    if (name !== 'putKeys') return { body: { rings: stored, n: stored.length, guests: null } };
    const isNext = (headers as Record<string, string>)['If-Match'] === `"${stored.length}"`;
    if (!isNext) throw new BatonClientError('keys_conflict', 'moved');
    stored.push(body?.ring ?? '');
    return { body: { n: stored.length } };
  };
  const session = { device: { device_id: 'phone-1' }, user: { user_id: ACCOUNT.user_id } };
  const times = { serverNow: () => NOW, trustedNow: () => NOW };
  const calls = { caller: { call }, ...times, session: async () => session } as unknown as SealingCalls;
  const rings = makeRings(calls, { keys: phone.store, asking: memoryKeys(), grant: noGrant });
  const [one, two] = (await Promise.all(['new-1', 'new-2'].map((id) => makePerson(id)))) as [Person, Person];
  return { rings, one, two, stored };
}

test('a full ring takes a new device in the place of the one that was not listed for the longest time', async () => {
  const away = { 'other-7': NOW - 2_000, 'other-3': NOW - 3_000, 'of-no-member': NOW - 9_000 };
  const { rings, one, two } = await fullAccount(away);
  const ids = async (person: Person): Promise<string[]> =>
    (await rings.change({ add: [person.asks] })).ring.body.members.map(({ device_id }) => device_id);
  const first = await ids(one);
  expect([first.length, first.includes('new-1'), first.includes('other-3')]).toEqual([MOST, true, false]);
  const second = await ids(two);
  expect([second.length, second.includes('new-2'), second.includes('other-7')]).toEqual([MOST, true, false]);
});

test('a full ring whose members are all listed takes nobody in, and stays as it is', async () => {
  const { rings, one, stored } = await fullAccount({});
  expect(await codeOf(rings.change({ add: [one.asks] }))).toBe('ring_full');
  expect(stored).toHaveLength(2);
});
