import { statfs } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { takeAll } from '../../../services/cli/receiving/crew.ts';
import { makeFullPauses, unpackBytesOf, WaitsForSpace } from '../../../services/cli/receiving/space.ts';
import { type BatonClient, BatonClientError, type IncomingTransfer } from '../../../shared/client/index.ts';
import { packType } from '../../../shared/client/files/pack.ts';
import type { TransferFile } from '../../../shared/client/wire.ts';
import type { ReceiveRecords } from '../../../shared/client/node.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

/* What a receiving command does about a transfer that another program of this device takes. */

const { jest } = import.meta;
const folder = makeFolder();
afterAll(() => folder.remove());
beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => jest.useRealTimers());

type Heard = (told: unknown) => void;

const OFFER = {
  ...{ id: 'transfer-1', isAccepted: false },
  transfer: {
    transfer_id: 'transfer-1',
    sender: { device_id: 'phone', name: 'Phone' },
    state: 'PENDING',
    sealed: null,
  },
} as unknown as IncomingTransfer;

/**
 * Receives for a minute, beside a program that has every transfer unless a claim is given. `look` answers who asks for the
 * transfer again.
 */
async function receive(
  look: () => Promise<IncomingTransfer>,
  { offer = OFFER, claim = null }: { offer?: IncomingTransfer; claim?: unknown } = {},
) {
  const listeners = new Map<string, Heard>();
  const looks: number[] = [];
  const notes: string[] = [];
  const baton = {
    on(name: string, heard: Heard) {
      listeners.set(name, heard);
      return () => {};
    },
    devices: { presence: [] },
    transfers: {
      incoming() {
        looks.push(Date.now());
        return look();
      },
    },
  } as unknown as BatonClient;
  const interrupted = new AbortController();
  const output = {
    isJson: true,
    tellsProgress: false,
    stderr: {},
    note: (text: string) => void notes.push(text),
    result() {},
  };
  const context = { output, signal: interrupted.signal, settings: { folder: folder.path } };
  const records = { claim: () => claim } as unknown as ReceiveRecords;
  const all = takeAll(
    context as unknown as Parameters<typeof takeAll>[0],
    { baton, url: 'http://service' },
    { dir: '.', yes: true, plain: true },
    records,
  );
  listeners.get('incoming')?.(offer);
  for (let second = 0; second < 60; second += 1) {
    for (let i = 0; i < 20; i += 1) await turn();
    // The disk is asked for its space meanwhile: a second question is answered after that.
    for (let i = 0; claim !== null && i < 4; i += 1) await statfs('.');
    for (let i = 0; i < 20; i += 1) await turn();
    await jest.advanceTimersByTimeAsync(1_000);
  }
  interrupted.abort(new Error('Interrupted.'));
  await expect(all).rejects.toThrow('Interrupted.');
  return { looks: looks.length, notes };
}

test('a transfer of another program is looked at again, also after a failure that passes', async () => {
  const away = new BatonClientError('network', 'away', { action: 'retry' });
  expect((await receive(() => Promise.reject(away))).looks).toBeGreaterThan(20);
  expect((await receive(() => Promise.resolve(OFFER))).looks).toBeGreaterThan(20);
});

test('a transfer that the service has forgotten is not looked at again', async () => {
  const gone = new BatonClientError('not_found', 'gone', { action: 'tell-user' });
  expect((await receive(() => Promise.reject(gone))).looks).toBe(1);
});

test('a disk that refuses although it has space is tried less and less often, and the user reads it once', async () => {
  const full = () => new WaitsForSpace('It waits for space.', { code: 'no_space' });
  const { transfer } = OFFER;
  const offer = {
    ...OFFER,
    isAccepted: true,
    transfer: { ...transfer, total_bytes: 10, files: [{ index: 0, name: 'a', size: 10 }] },
    accept: () => ({
      ...{ id: OFFER.id, transfer, progress: { bytes: 0, totalBytes: 0 }, onProgress: () => () => {} },
      done: Promise.reject(full()),
    }),
  } as unknown as IncomingTransfer;
  const claim = { begin() {}, release() {}, remove() {}, hasReceived: () => false };
  const { looks, notes } = await receive(() => Promise.resolve(offer), { offer, claim });
  expect(looks).toBeGreaterThan(1);
  expect(looks).toBeLessThan(6);
  expect(notes.filter((note) => note.includes('going on'))).toHaveLength(1);
});

test('the pause after a full disk doubles up to a minute, and begins anew when bytes have arrived', () => {
  const pauseOf = makeFullPauses(2_000);
  const pauses = [0, 0, 0, 0, 0, 0, 0, 5, 4].map((bytes) => pauseOf('one', bytes));
  expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 2_000, 4_000]);
});

test('a pack needs its space once more while it is unpacked', () => {
  const pack = { size: 10_000, type: packType(3) };
  const files = [{ size: 9_000_000, type: null }, pack] as unknown as TransferFile[];
  expect(unpackBytesOf({ files })).toBe(10_000 + 3 * 4_096);
});
