import type { Device } from '../../../shared/client/index.ts';
import { makeLeaving } from '../../../services/web/sealing/leaving.ts';

const devices = [{ device_id: 'laptop' }] as Device[];

/** Makes a ring. The test decides which device leaves it. */
function makeRing() {
  const [asked, removed] = [[] as ((ids: string[]) => void)[], [] as string[]];
  return {
    removed,
    sealing: {
      leaving: () => new Promise<string[]>((resolve) => void asked.push(resolve)),
      remove: (ids: readonly string[]) => Promise.resolve(void removed.push(...ids)),
    },
    /** Answers the next question about which devices leave. */
    async answer(...ids: string[]): Promise<void> {
      await this.settled();
      const [next] = asked.splice(0, 1);
      if (next === undefined) throw new Error('Nobody asks who is to leave');
      next(ids);
    },
    /** Lets everything run that can run now. */
    async settled(): Promise<number> {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      return asked.length;
    },
  };
}

const leavingOf = ({ sealing }: ReturnType<typeof makeRing>, pause = (_mostMs: number) => Promise.resolve()) =>
  makeLeaving({ ...sealing, isMember: () => true, pause });

test('a device whose removal is noted while the members are read is taken out all the same', async () => {
  const ring = makeRing();
  const leaving = leavingOf(ring);
  leaving.soon(devices);
  await ring.settled();
  // The list of devices comes first, then the news that tells why one is missing.
  leaving.soon(devices);
  await ring.answer();
  await ring.answer('phone');
  await ring.answer('phone');
  expect(await ring.settled()).toBe(0);
  expect(ring.removed).toEqual(['phone']);
});

test('a device that another one takes out during the pause is not taken out twice', async () => {
  const ring = makeRing();
  leavingOf(ring).soon(devices);
  await ring.answer('phone');
  await ring.answer();
  expect(await ring.settled()).toBe(0);
  expect(ring.removed).toEqual([]);
});

test('nobody is taken out before a pause of up to ten seconds, in which another device may do it', async () => {
  const [ring, pauses] = [makeRing(), [] as number[]];
  let goOn = (): void => {};
  const pause = (mostMs: number): Promise<void> => {
    pauses.push(mostMs);
    return new Promise((resolve) => {
      goOn = resolve;
    });
  };
  leavingOf(ring, pause).soon(devices);
  await ring.answer('phone');
  expect([await ring.settled(), pauses, ring.removed]).toEqual([0, [10_000], []]);
  goOn();
  await ring.answer('phone');
  await ring.settled();
  expect(ring.removed).toEqual(['phone']);
});
