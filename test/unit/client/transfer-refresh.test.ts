import { makeTransfers } from '../../../shared/client/transfers/transfers.ts';
import { makeEmitter } from '../../../shared/client/emitter.ts';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { Caller } from '../../../shared/client/http/caller.ts';
import type { Transfer } from '../../../shared/client/wire.ts';
import { makeManualClock } from './manual-clock.ts';

const offered = {
  ...{ transfer_id: 't', state: 'PENDING', mode: 'direct', files: [], file_count: 0, updated_at: 1, error: null },
  ...{ sender: { device_id: 'laptop', name: 'Laptop' }, receiver: { device_id: 'phone', name: 'Phone' } },
} as unknown as Transfer;
const done: Transfer = { ...offered, state: 'DONE', updated_at: 2 };

test('the end of a transfer is heard, although the service does not answer at once when the stream is open again', async () => {
  const clock = makeManualClock();
  const answers = [offered, null, done];
  const call = (name: string): Promise<unknown> => {
    if (name !== 'getTransfer') return new Promise(() => {});
    const transfer = answers.shift();
    if (transfer) return Promise.resolve({ body: { transfer } });
    return Promise.reject(new BatonClientError('network', 'away', { action: 'retry' }));
  };
  const life = new AbortController();
  const problems: unknown[] = [];
  const transfers = makeTransfers({
    ...{ clock, options: {}, caller: { call } as unknown as Caller, emitter: makeEmitter(() => {}) },
    ...{ life: () => life.signal, start() {}, presence: () => [], deviceId: () => 'phone' },
    onProblem: (error) => void problems.push(error),
  });
  const offer = await transfers.api.incoming('t');
  const running = offer.accept(() => Promise.reject(new Error('no file')));
  transfers.onReady(false);
  while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1_000);
  expect((await running.done).state).toBe('DONE');
});
