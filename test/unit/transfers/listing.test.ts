import { makeListing } from '../../../services/sync/transfers/listing.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

const CALLER = { account: 'ann', deviceId: 'phone' };
const READ_AT_ONCE = 16;

interface Kept {
  id: string;
  state?: string;
  /** The UTF-8 bytes of its JSON, most of them in letters of two bytes. */
  bytes?: number;
  fails?: Error;
}

/** Returns a transfer as the store has it: its JSON without the end. */
function openJsonOf({ id, bytes = 0 }: Kept): string {
  const start = `{"id":"${id}","name":"`;
  const space = Math.max(0, bytes - start.length - '"}'.length);
  return `${start}${'é'.repeat(space / 2)}${'x'.repeat(space % 2)}"`;
}

const entryOf = ({ id }: Kept) => `1800000000000-${id}`;

/** Makes a listing of these transfers, the newest first. Each read of a record takes a moment. */
function listingOf(transfers: Kept[]) {
  const reads = { now: 0, most: 0 };
  const listing = makeListing({
    list: (account, device, cursor, count) => {
      expect([account, device]).toEqual(['ann', 'phone']);
      const from = transfers.findIndex((each) => entryOf(each) === cursor) + 1;
      return Promise.resolve(transfers.slice(from, from + count).map(entryOf));
    },
    pending: (account, device, position) => {
      expect([account, device, position]).toEqual(['ann', 'phone', '1-0']);
      return Promise.resolve(transfers.map(({ id }) => id));
    },
    glance: async (account, device, id, wanted) => {
      expect([account, device]).toEqual(['ann', 'phone']);
      reads.now += 1;
      reads.most = Math.max(reads.most, reads.now);
      await Promise.resolve();
      reads.now -= 1;
      const found = transfers.find((each) => each.id === id) as Kept;
      const { state = 'PENDING', fails } = found;
      if (fails) throw fails;
      if (wanted !== undefined && wanted !== state) return null;
      return { openJson: openJsonOf(found), files: null, relayInUse: false, generations: new Map() };
    },
  });
  return {
    reads,
    async list(wanted: Parameters<typeof listing.list>[1] = {}) {
      const { transfers: shown, next_cursor } = JSON.parse(await listing.list(CALLER, wanted)) as {
        transfers: { id: string }[];
        next_cursor: string | null;
      };
      return { ids: shown.map(({ id }) => id), next: next_cursor };
    },
    async pending() {
      const pages: { transfer: { id: string }; redelivered: boolean }[][] = [];
      for await (const page of listing.pending(CALLER, '1-0'))
        pages.push(page.map((json) => JSON.parse(json) as (typeof pages)[number][number]));
      return pages;
    },
  };
}

const many = (count: number, more: Partial<Kept> = {}): Kept[] =>
  Array.from({ length: count }, (_, i) => ({ id: `a-${i}`, ...more }));
const idsOf = (transfers: Kept[]) => transfers.map(({ id }) => id);

describe('a list', () => {
  test.each([0, 1, 7, 8, 9, 40])('has all of %i transfers in their order, and no cursor', async (count) => {
    const transfers = many(count);
    expect(await listingOf(transfers).list()).toEqual({ ids: idsOf(transfers), next: null });
  });

  test('ends a page at its limit, and the cursor goes on behind its last transfer', async () => {
    const transfers = many(20);
    const { list } = listingOf(transfers);
    const first = await list({ limit: 11 });
    expect(first.ids).toEqual(idsOf(transfers.slice(0, 11)));
    const second = await list({ limit: 11, cursor: first.next as string });
    expect(second).toEqual({ ids: idsOf(transfers.slice(11)), next: null });
  });

  test('ends a page also where no limit is given', async () => {
    const transfers = many(150);
    const { ids, next } = await listingOf(transfers).list();
    expect(ids.length).toBeLessThanOrEqual(100);
    expect(next).toBe(entryOf({ id: ids.at(-1) as string }));
  });

  test('ends a page that is long enough, to the byte', async () => {
    const half = LIMITS.transferPageBytes / 2;
    for (const [last, shown] of [
      [half, 2],
      [half - 1, 3],
    ] as const) {
      const transfers = [{ id: 'a', bytes: half }, { id: 'b', bytes: last }, { id: 'c' }, { id: 'd' }];
      const { ids, next } = await listingOf(transfers).list({ limit: 3 });
      expect(ids).toEqual(['a', 'b', 'c'].slice(0, shown));
      expect(next).toBe(entryOf({ id: ids.at(-1) as string }));
    }
  });

  test('by state reads a bounded number of records, and an empty page has a cursor', async () => {
    const wanted = { id: 'wanted', state: 'DONE' };
    const transfers = [...many(LIMITS.transferPageRecords), wanted];
    const { list } = listingOf(transfers);
    const first = await list({ state: 'DONE' });
    expect(first).toEqual({ ids: [], next: entryOf(transfers[LIMITS.transferPageRecords - 1] as Kept) });
    expect(await list({ state: 'DONE', cursor: first.next as string })).toEqual({ ids: ['wanted'], next: null });
  });

  test('by state has no cursor where fewer records are left', async () => {
    const { list } = listingOf([...many(LIMITS.transferPageRecords - 2), { id: 'wanted', state: 'DONE' }]);
    expect(await list({ state: 'DONE' })).toEqual({ ids: ['wanted'], next: null });
  });

  test('leaves out a transfer that has expired since it was found', async () => {
    const transfers = [{ id: 'a' }, { id: 'b', fails: new BatonError('not_found') }, { id: 'c' }];
    expect(await listingOf(transfers).list()).toEqual({ ids: ['a', 'c'], next: null });
  });

  test.each([new BatonError('not_a_party'), new Error('broken')])('fails with every other error: %s', async (fails) => {
    await expect(listingOf([{ id: 'a' }, { id: 'b', fails }]).list()).rejects.toBe(fails);
  });

  test('reads a few records at a time', async () => {
    const { list, reads } = listingOf(many(100, { state: 'DONE' }));
    await list({ state: 'PENDING' });
    expect(reads.most).toBeGreaterThan(1);
    expect(reads.most).toBeLessThanOrEqual(READ_AT_ONCE);
  });
});

describe('the offers that wait for a device', () => {
  test.each([0, 1, 8, 16, 30])('come page by page, each once and marked as repeated: %i', async (count) => {
    const offers = many(count);
    const pages = await listingOf(offers).pending();
    expect(pages.flat()).toEqual(offers.map(({ id }) => ({ transfer: { id, name: '' }, redelivered: true })));
    expect(pages.every(({ length }) => length <= READ_AT_ONCE)).toBe(true);
  });

  test('are without those that were accepted or have expired since', async () => {
    const offers = [{ id: 'a', state: 'ACCEPTED' }, { id: 'b' }, { id: 'c', fails: new BatonError('not_found') }];
    expect(await listingOf(offers).pending()).toEqual([[{ transfer: { id: 'b', name: '' }, redelivered: true }]]);
  });
});
