import type { Attached } from '../../../services/sync/streams/store.ts';
import { makeRowKeeper } from '../../../services/sync/streams/opening/row-keeper.ts';
import { newStream } from './new-stream.ts';

const { jest } = import.meta;

const attached = (devices: string[] | null): Attached =>
  ({ presence: devices && { devices, states: [] } }) as unknown as Attached;

function setUp(...outcomes: (boolean | 'fails')[]) {
  const stream = newStream();
  const restoreRow = jest.fn(() => {
    const outcome = outcomes.shift() ?? false;
    return outcome === 'fails' ? Promise.reject(new Error('away')) : Promise.resolve(outcome);
  });
  const [attachLater, onFailure] = [jest.fn(), jest.fn()];
  const rows = makeRowKeeper({ restoreRow, sweeper: { attachLater }, onFailure });
  const keep = async (of: typeof stream, told: Attached): Promise<boolean> =>
    rows.isMissing(of, told) && rows.restore(of);
  return { stream, restoreRow, attachLater, onFailure, keep };
}

test('a row that could not be put back is tried again, though no newer presence says that it is missing', async () => {
  const { stream, restoreRow, attachLater, onFailure, keep } = setUp('fails', 'fails', true);
  expect(await keep(stream, attached([]))).toBe(false);
  expect(await keep(stream, attached(null))).toBe(false);
  expect(onFailure).toHaveBeenCalledTimes(2);
  expect(attachLater.mock.calls.map(([of]) => of)).toEqual([stream, stream]);
  for (const [, inMs] of attachLater.mock.calls) expect(inMs).toBeGreaterThanOrEqual(10_000);
  expect(await keep(stream, attached(null))).toBe(true);
  expect(await keep(stream, attached(null))).toBe(false);
  expect(restoreRow).toHaveBeenCalledTimes(3);
});

test('one that is there, or not to be had, is asked for no more', async () => {
  const { stream, restoreRow, attachLater, keep } = setUp(false);
  expect(await keep(stream, attached(['phone', 'row']))).toBe(false);
  expect(restoreRow).not.toHaveBeenCalled();
  expect(await keep(stream, attached(['laptop', 'row']))).toBe(false);
  expect(await keep(stream, attached(null))).toBe(false);
  expect(restoreRow).toHaveBeenCalledTimes(1);
  expect(attachLater).not.toHaveBeenCalled();
});
