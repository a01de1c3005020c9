import { readGuestList, signGuests } from '../../../../shared/client/sealed/ring/guests.ts';
import { makeGuestList } from '../../../../shared/client/sealing/guest-list.ts';
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
