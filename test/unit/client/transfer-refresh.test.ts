import { makeTransfers, type TransferModule } from '../../../shared/client/transfers/transfers.ts';
import { makeEmitter } from '../../../shared/client/emitter.ts';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { Caller } from '../../../shared/client/http/caller.ts';
import type { Transfer } from '../../../shared/client/wire.ts';
import { makeManualClock } from './manual-clock.ts';

const offered = {
  ...{
    transfer_id: 't',
    state: 'PENDING',
    mode: 'p2p',
    files: [{ index: 0, name: 'a', size: 1 }],
    file_count: 1,
    updated_at: 1,
    error: null,
  },
  ...{ sender: { device_id: 'laptop', name: 'Laptop' }, receiver: { device_id: 'phone', name: 'Phone' } },
} as unknown as Transfer;
const done: Transfer = { ...offered, state: 'DONE', updated_at: 2 };

/** Makes the transfers of a phone, whose requests are answered by `call`. */
function makePhone(call: (name: string) => Promise<unknown>) {
  const clock = makeManualClock();
  const life = new AbortController();
  const transfers = makeTransfers({
    ...{ clock, options: {}, caller: { call } as unknown as Caller, emitter: makeEmitter(() => {}) },
    ...{ life: () => life.signal, start() {}, presence: () => [], deviceId: () => 'phone', onProblem() {} },
  });
  return { clock, transfers };
}

const accepted = async ({ api }: TransferModule) => {
  const offer = await api.incoming('t');
  return offer.accept(() => new Promise(() => {}));
};

test('the end of a transfer is heard, although the service does not answer at once when the stream is open again', async () => {
  const answers = [offered, null, done];
  const { clock, transfers } = makePhone((name) => {
    if (name !== 'getTransfer') return new Promise(() => {});
    const transfer = answers.shift();
    if (transfer) return Promise.resolve({ body: { transfer } });
    return Promise.reject(new BatonClientError('network', 'away', { action: 'retry' }));
  });
  const running = await accepted(transfers);
  transfers.onReady(false);
  while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1_000);
  expect((await running.done).state).toBe('DONE');
});

test('an acceptance that the store has lost is given again when the stream is open again', async () => {
  const asked: string[] = [];
  const { transfers } = makePhone((name) => {
    asked.push(name);
    const state = name === 'acceptTransfer' ? 'ACCEPTED' : 'PENDING';
    return Promise.resolve({ body: { transfer: { ...offered, state } } });
  });
  const running = await accepted(transfers);
  while (running.transfer.state !== 'ACCEPTED') await new Promise((resolve) => setImmediate(resolve));
  transfers.onReady(false);
  while (asked.length < 4) await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual(['getTransfer', 'acceptTransfer', 'getTransfer', 'acceptTransfer']);
});
