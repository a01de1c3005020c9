import { setImmediate as turn } from 'node:timers/promises';
import { takeAll } from '../../../services/cli/receiving/crew.ts';
import { type BatonClient, BatonClientError, type IncomingTransfer } from '../../../shared/client/index.ts';
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

/** Receives beside a program that has every transfer. `look` answers who asks for the transfer again. */
async function receive(look: () => Promise<IncomingTransfer>) {
  const listeners = new Map<string, Heard>();
  const looks: number[] = [];
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
  const output = { isJson: true, tellsProgress: false, stderr: {}, note() {}, result() {} };
  const context = { output, signal: interrupted.signal, settings: { folder: folder.path } };
  const records = { claim: () => null } as unknown as ReceiveRecords;
  const all = takeAll(
    context as unknown as Parameters<typeof takeAll>[0],
    { baton, url: 'http://service' },
    { dir: '.', yes: true, plain: true },
    records,
  );
  listeners.get('incoming')?.(OFFER);
  for (let second = 0; second < 60; second += 1) {
    for (let i = 0; i < 20; i += 1) await turn();
    await jest.advanceTimersByTimeAsync(1_000);
  }
  interrupted.abort(new Error('Interrupted.'));
  await expect(all).rejects.toThrow('Interrupted.');
  return looks.length;
}

test('a transfer of another program is looked at again, also after a failure that passes', async () => {
  const away = new BatonClientError('network', 'away', { action: 'retry' });
  expect(await receive(() => Promise.reject(away))).toBeGreaterThan(20);
  expect(await receive(() => Promise.resolve(OFFER))).toBeGreaterThan(20);
});

test('a transfer that the service has forgotten is not looked at again', async () => {
  const gone = new BatonClientError('not_found', 'gone', { action: 'tell-user' });
  expect(await receive(() => Promise.reject(gone))).toBe(1);
});
