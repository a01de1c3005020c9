import { setImmediate as turn } from 'node:timers/promises';
import type { ClientEvents } from '../../../shared/client/api.ts';
import { makeEmitter } from '../../../shared/client/emitter.ts';
import type { Caller } from '../../../shared/client/http/caller.ts';
import { systemClock } from '../../../shared/client/time/clock.ts';
import { makeTransfers } from '../../../shared/client/transfers/transfers.ts';
import type { Transfer } from '../../../shared/client/wire.ts';

const offered = {
  ...{ transfer_id: 'transfer', state: 'PENDING', mode: 'relay', error: null, files: [], updated_at: 1 },
  ...{ sender: { device_id: 'phone' }, receiver: { device_id: 'desk' } },
} as unknown as Transfer;
const cancelled = { ...offered, state: 'CANCELLED', updated_at: 2 } as Transfer;

test('a list that was asked for before a transfer ended does not announce it again', async () => {
  const lists: ((transfers: Transfer[]) => void)[] = [];
  const call = () =>
    new Promise((resolve) => {
      lists.push((transfers) => resolve({ body: { transfers, next_cursor: null } }));
    });
  const emitter = makeEmitter<ClientEvents>(() => {});
  const announced: string[] = [];
  emitter.on('incoming', ({ id }) => announced.push(id));
  const { signal } = new AbortController();
  const module = makeTransfers({
    ...{ options: {}, caller: { call } as unknown as Caller, clock: systemClock, emitter },
    ...{ life: () => signal, start() {}, presence: () => [], deviceId: () => 'desk', onProblem() {} },
  });
  module.onIncoming({ transfer: offered, redelivered: false });
  expect(announced).toEqual(['transfer']);
  module.onReady(true);
  module.onUpdated({ transfer: cancelled });
  lists[0]?.([offered]);
  await turn();
  expect(announced).toEqual(['transfer']);
  // A store that lost the end says so in a list that is asked for after it.
  module.onReady(true);
  lists[1]?.([offered]);
  await turn();
  expect(announced).toEqual(['transfer', 'transfer']);
});
