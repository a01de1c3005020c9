import type { Pipe } from '../../../../shared/client/peer-to-peer/pipe.ts';
import { serveFiles } from '../../../../shared/client/peer-to-peer/serving.ts';
import type { Run } from '../../../../shared/client/transfers/transfer-run.ts';

/* A sender that leaves the direct path. */

const MIB = 1024 * 1024;
const RECORD = 262_172;

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function makeServing(size: number) {
  const stopping = new AbortController();
  const content = new Uint8Array(size).map((_, at) => at * 31);
  let take: (data: unknown) => void = () => {};
  const sent: Uint8Array[] = [];
  let left = 0;
  const pipe: Pipe = {
    messageBytes: 64 * 1024,
    isReady: true,
    send: (data) => typeof data !== 'string' && sent.push(data.slice()),
    listen: (onData) => {
      take = onData;
    },
  };
  const serving = serveFiles({
    ...{ pipe, signal: stopping.signal, onBegun() {}, onStored() {} },
    run: { meter: { file() {}, path() {} }, unpaused: async () => {} } as unknown as Run,
    sources: [{ name: 'a', size, replayable: true, open: (offset) => new Blob([content.slice(offset)]).stream() }],
    onLeft: () => (left += 1),
    onMisbehaved() {
      throw new Error('misbehaved');
    },
    onFailed(error) {
      throw error;
    },
  });
  const count = () => sent.reduce((sum, { length }) => sum + length, 0);
  return {
    ...{ content, serving, count },
    say: (word: object) => take(JSON.stringify(word)),
    took: (from: number) => take(JSON.stringify({ say: 'took', file: 0, at: from + count(), bytes: count() })),
    bytes: () => Buffer.concat(sent),
    left: () => left,
    stop: () => stopping.abort(),
  };
}

test.each([0, 1_000, RECORD, 3 * MIB + 7])(
  'it ends at the border of a record, and is gone only when the receiver has nearly all (begun at byte %i)',
  async (from) => {
    const all = makeServing(40 * MIB);
    all.say({ say: 'want', file: 0, at: from });
    await settled();
    // The receiver's window is full.
    expect(all.count()).toBeGreaterThanOrEqual(8 * MIB);
    all.serving.leave(RECORD);
    for (let turn = 0; turn < 3; turn += 1) {
      await settled();
      if (turn === 0) expect(all.left()).toBe(0);
      all.took(from);
    }
    await settled();
    const end = from + all.count();
    expect([end % RECORD, all.left()]).toEqual([0, 1]);
    expect(Buffer.compare(all.bytes(), all.content.slice(from, end))).toBe(0);
    expect(end).toBeLessThan(20 * MIB);
    all.stop();
  },
);

test('a sender from which nothing is wanted leaves at once', async () => {
  const all = makeServing(MIB);
  all.serving.leave(RECORD);
  await settled();
  expect(all.left()).toBe(1);
  all.stop();
});
