import { readGuestList, signGuests } from '../../../../shared/client/sealed/ring/guests.ts';
import { memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { readRing } from '../../../../shared/client/sealed/ring/ring.ts';
import { makeGuestList } from '../../../../shared/client/sealing/guest-list.ts';
import { makeRings } from '../../../../shared/client/sealing/rings.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { ACCOUNT, firstRing, keyringOf, makePerson, nextRing, NOW } from '../sealed/people.ts';

const guestOf = async (id: string) => {
  const { enc, sig } = (await makePerson(id)).asks;
  return { device_id: id, enc, sig, until: NOW + 3_600_000 };
};

test('a list of a ring that comes between two calls keeps its guests', async () => {
  const [a, b] = [await makePerson('device-a'), await makePerson('device-b')];
  const first = await firstRing(a);
  const second = await nextRing(first, a, { add: [b.asks] });
  const [before, after] = [await keyringOf(a, [first]), await keyringOf(a, [first, second])];
  const [there, added] = [await guestOf('guest-1'), await guestOf('guest-2')];
  const list = await signGuests(second, [there], await keyringOf(b, [second]), NOW);

  const put: string[] = [];
  const call = async (name: string, { body }: { body?: { guests: string } }) => {
    if (name === 'putGuests') put.push(body?.guests ?? '');
    return { body: { rings: [second.text], n: 2, guests: list } };
  };
  const calls = { caller: { call }, trustedNow: () => NOW } as unknown as SealingCalls;
  const known = [before, after];
  await makeGuestList(calls, {
    current: async () => known.shift() ?? after,
    known: async () => after,
    take: async () => after,
  }).add(added);

  const texts = put.map((text) => readGuestList(text, second, ACCOUNT));
  expect((await Promise.all(texts)).map(({ guests }) => guests.map(({ device_id: id }) => id))).toEqual([
    ['guest-1', 'guest-2'],
  ]);
});

// A service that hides that the time is over, from a device that knows an older list, must not keep the guest.
test('the ring of a removal names a guest whose time is over', async () => {
  const owner = await makePerson('device-a');
  const ring = await firstRing(owner);
  const over = { ...(await guestOf('guest-1')), until: NOW - 1_000 };
  const list = await signGuests(ring, [over], await keyringOf(owner, [ring]), NOW);
  const put: string[] = [];
  const call = async (name: string, { body }: { body?: { ring: string } } = {}) => {
    if (name === 'putKeys') put.push(body?.ring ?? '');
    return { body: { rings: [ring.text], n: 1, guests: list } };
  };
  const session = { device: { device_id: 'device-a' }, user: { user_id: ACCOUNT.user_id } };
  const times = { serverNow: () => NOW, trustedNow: () => NOW };
  const calls = { caller: { call }, ...times, session: async () => session } as unknown as SealingCalls;
  const noGrant = { load: async () => null, save: async () => {}, clear: async () => {} };
  const rings = makeRings(calls, { keys: owner.store, asking: memoryKeys(), grant: noGrant });

  await rings.change({ remove: ['guest-1'] });
  expect(put).toHaveLength(1);
  const { gone_guests: gone } = (await readRing(put[0] as string, ACCOUNT)).body;
  expect(gone?.map(({ device_id: id }) => id)).toEqual(['guest-1']);
});
