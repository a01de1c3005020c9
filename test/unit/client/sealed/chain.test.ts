import { pinRing, readBack, walkChain } from '../../../../shared/client/sealed/ring/chain.ts';
import { hashOf, type Ring } from '../../../../shared/client/sealed/ring/ring.ts';
import { ACCOUNT, codeOf, firstRing, makePerson, nextRing } from './people.ts';

/** The number of rings that a device keeps (sealed.md), and two more. */
const MADE = 66;
const KEPT = 64;

let rings: Ring[];
let texts: string[];
beforeAll(async () => {
  const a = await makePerson('device-a');
  rings = [await firstRing(a)];
  while (rings.length < MADE) rings.push(await nextRing(rings.at(-1) as Ring, a, {}));
  texts = rings.map(({ text }) => text);
});

const numbersOf = (walked: readonly Ring[]) => [walked[0]?.body.n, walked.at(-1)?.body.n];
const pinned = (n: number) => ({ ...ACCOUNT, n, hash: hashOf(rings[n - 1] as Ring) });

test('a device keeps the newest 64 rings, whichever way it read them', async () => {
  const walked = await walkChain([], texts, ACCOUNT);
  expect(walked).toHaveLength(KEPT);
  expect(numbersOf(walked)).toEqual([MADE - KEPT + 1, MADE]);

  const back = await readBack(rings.slice(-1), texts.slice(0, -1), ACCOUNT);
  expect(back).toHaveLength(KEPT);
  expect(numbersOf(back)).toEqual([MADE - KEPT + 1, MADE]);
});

test('a ring that the next one does not name is not read back', async () => {
  const other = await makePerson('device-a');
  const foreign = await firstRing(other);
  const known = rings.slice(1, 2);
  expect(await codeOf(readBack(known, [foreign.text], ACCOUNT))).toBe('devices_disagree');
  expect(await readBack(known, [], ACCOUNT)).toEqual(known);
  expect(await readBack([], texts.slice(0, 2), ACCOUNT)).toEqual([]);
  expect(numbersOf(await readBack(known, texts.slice(0, 3), ACCOUNT))).toEqual([1, 2]);
});

test.each([1, 2, 3, 5])('a pin on ring %d of five leads to the fifth', async (n) => {
  expect(numbersOf(await pinRing(texts.slice(0, 5), pinned(n)))).toEqual([n, 5]);
});

test('a pin that is not in the list leads nowhere, and one of another ring is a disagreement', async () => {
  expect(await codeOf(pinRing(texts.slice(0, 5), pinned(6)))).toBe('link_again');
  expect(await codeOf(pinRing(texts.slice(0, 5), { ...pinned(2), hash: pinned(3).hash }))).toBe('devices_disagree');
});

test('a list in which two rings have one number is a disagreement, whichever of them comes first', async () => {
  const a = await makePerson('device-a');
  const first = await firstRing(a);
  const [one, other] = [await nextRing(first, a, {}), await nextRing(first, a, { rotate: true })];
  for (const list of [
    [first, one, other],
    [first, other, one],
  ]) {
    const answer = list.map(({ text }) => text);
    expect(await codeOf(walkChain([], answer, ACCOUNT))).toBe('devices_disagree');
  }
  expect(numbersOf(await walkChain([], [first.text, one.text, one.text], ACCOUNT))).toEqual([1, 2]);
});
