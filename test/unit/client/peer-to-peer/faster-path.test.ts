import { chooseFasterPath } from '../../../../shared/client/peer-to-peer/faster-path.ts';
import { makeManualClock } from '../manual-clock.ts';

/* Which of two paths a sealed transfer takes, by the measurements on each. */

const MIB = 1024 * 1024;
const LOOK_MS = 250;

interface Way {
  /** Bytes a second. */
  direct: number;
  relay: number;
}

/** Makes a transfer whose bytes move at these rates. The relay takes a window's bytes at once, as a sender fills it. */
function makeTransfer(way: Way, { totalBytes = 1_000 * MIB, allowed = true } = {}) {
  const clock = makeManualClock();
  const controller = new AbortController();
  const changes: string[] = [];
  const watchers = new Set<() => void>();
  let path: 'direct' | 'relay' = 'direct';
  let [bytes, filled] = [0, 0];
  const meter = { now: { totalBytes, bytes: 0, isPaused: false } };
  const wake = () => {
    for (const look of [...watchers]) look();
  };
  const asked: string[] = [];
  const run = {
    signal: controller.signal,
    meter,
    get transfer() {
      return { file_count: 1, state: path === 'relay' ? 'RELAY_ACTIVE' : 'P2P_ACTIVE' };
    },
    until: (isSo: (transfer: object) => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!isSo(run.transfer)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    unpaused: () => run.until(() => !meter.now.isPaused),
    insist: (work: () => unknown) => work(),
  };
  const caller = {
    async call(name: string) {
      asked.push(name);
      return { body: { features: { relay_preferred: allowed }, limits: { relay_window_bytes: 8 * MIB } } };
    },
  };
  const isOver = chooseFasterPath({
    ...({ run, caller } as unknown as Pick<Parameters<typeof chooseFasterPath>[0], 'run' | 'caller'>),
    clock,
    isDirect: () => path === 'direct',
    toRelay() {
      path = 'relay';
      filled = 0;
      changes.push(`relay after ${Math.round(bytes / MIB)} MiB`);
      wake();
    },
    toDirect() {
      path = 'direct';
      changes.push('direct');
      wake();
    },
  });
  return {
    ...{ changes, asked, way, isOver },
    pause(isPaused: boolean) {
      meter.now.isPaused = isPaused;
      wake();
    },
    async passes(seconds: number) {
      for (let ms = 0; ms < seconds * 1_000; ms += LOOK_MS) {
        await new Promise((resolve) => setImmediate(resolve));
        const moved = meter.now.isPaused ? 0 : (way[path] * LOOK_MS) / 1_000;
        const ahead = path === 'relay' && way.relay > 0 && filled < 8 * MIB ? 4 * MIB : 0;
        filled += ahead;
        bytes = Math.min(totalBytes, bytes + moved + ahead);
        meter.now.bytes = bytes;
        clock.advance(LOOK_MS);
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('a slow direct path is left for a relay that is faster, and the transfer stays there', async () => {
  const transfer = makeTransfer({ direct: MIB, relay: 4 * MIB });
  await transfer.passes(4);
  expect(transfer.changes).toEqual([]);
  await transfer.passes(100);
  expect(transfer.changes).toEqual(['relay after 5 MiB']);
});

test('a relay that only fills its window fast is left again, and is never tried a second time', async () => {
  const transfer = makeTransfer({ direct: MIB, relay: MIB });
  await transfer.passes(20);
  expect(transfer.changes).toEqual(['relay after 5 MiB', 'direct']);
  await transfer.isOver;
  transfer.way.direct = 1_000;
  await transfer.passes(100);
  expect(transfer.changes.length).toBe(2);
});

test('a relay that stands still is left again', async () => {
  const transfer = makeTransfer({ direct: MIB, relay: 4 * MIB });
  await transfer.passes(30);
  transfer.way.relay = 0;
  await transfer.passes(14);
  expect(transfer.changes.length).toBe(1);
  await transfer.passes(20);
  expect(transfer.changes).toEqual(['relay after 5 MiB', 'direct']);
});

test('a relay that takes nothing is left again', async () => {
  const transfer = makeTransfer({ direct: MIB, relay: 0 });
  await transfer.passes(30);
  expect(transfer.changes).toEqual(['relay after 5 MiB', 'direct']);
});

test('a direct path that becomes slow later is left then, and a pause is no slowness', async () => {
  const transfer = makeTransfer({ direct: 10 * MIB, relay: 20 * MIB });
  await transfer.passes(20);
  transfer.pause(true);
  await transfer.passes(60);
  transfer.pause(false);
  expect(transfer.changes).toEqual([]);
  transfer.way.direct = MIB;
  await transfer.passes(12);
  expect(transfer.changes.length).toBe(1);
});

test('a transfer stays direct where it is nearly done, and where the service does not prefer the relay', async () => {
  const small = makeTransfer({ direct: MIB, relay: 4 * MIB }, { totalBytes: 30 * MIB });
  await small.passes(60);
  expect(small.changes).toEqual([]);
  const refused = makeTransfer({ direct: MIB, relay: 4 * MIB }, { allowed: false });
  await refused.passes(60);
  await refused.isOver;
  expect([refused.changes, refused.asked]).toEqual([[], ['getMe']]);
});
