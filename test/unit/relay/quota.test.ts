import { makeQuota } from '../../../services/sync/relay/quota.ts';
import { BatonError } from '../../../shared/contract/errors.ts';

const file = { account: 'ann', transferId: 'transfer', index: 0 };

/** Makes a quota over a store with one place, whose memory is asked for with this result. */
function makeScene(memoryPercent: () => Promise<number>) {
  let isTaken = false;
  const store = {
    async reserve() {
      const isNew = !isTaken;
      isTaken = true;
      return isNew;
    },
    async release() {
      isTaken = false;
    },
    memoryPercent,
  };
  const quota = makeQuota({ store, notifier: {}, memoryPercent: 70 } as unknown as Parameters<typeof makeQuota>[0]);
  return { reserve: () => quota.reserve(file), isTaken: () => isTaken };
}

test('a place is taken once, where there is memory', async () => {
  const { reserve, isTaken } = makeScene(async () => 70);
  expect([await reserve(), await reserve(), isTaken()]).toEqual([true, false, true]);
});

test.each([
  ['is full', async () => 71, 'relay_busy'],
  ['does not answer', () => Promise.reject(new BatonError('store_unavailable')), 'store_unavailable'],
])('a place does not stay taken when the store of the bytes %s', async (_, memoryPercent, code) => {
  const { reserve, isTaken } = makeScene(memoryPercent);
  await expect(reserve()).rejects.toMatchObject({ code });
  expect(isTaken()).toBe(false);
});
