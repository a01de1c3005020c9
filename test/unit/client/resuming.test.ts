import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import { makeEmitter } from '../../../shared/client/emitter.ts';
import { blobSource } from '../../../shared/client/files/sources.ts';
import type { Caller } from '../../../shared/client/http/caller.ts';
import { makeTransfers } from '../../../shared/client/transfers/transfers.ts';
import type { ClientEvents } from '../../../shared/client/api.ts';

const transfer = {
  ...{ transfer_id: 'transfer-1', state: 'ACCEPTED', mode: 'relay', file_count: 1, updated_at: 1, error: null },
  ...{ sender: { device_id: 'laptop', name: 'Laptop' }, receiver: { device_id: 'phone', name: 'Phone' } },
  files: [{ index: 0, name: 'a.txt', size: 1, type: null, sha256: null }],
};

test('a transfer that is resumed twice at once runs once', async () => {
  const life = new AbortController();
  const pending = new Promise<never>(() => {});
  const call = (name: string) => (name === 'getTransfer' ? Promise.resolve({ body: { transfer } }) : pending);
  const { api } = makeTransfers({
    ...{ options: {}, caller: { call, bytes: () => pending } as unknown as Caller },
    emitter: makeEmitter<ClientEvents>(() => {}),
    ...{ life: () => life.signal, start: () => {}, presence: () => [], deviceId: () => 'laptop', onProblem: () => {} },
    clock: { now: () => 0, after: () => () => {} },
  });
  const files = [blobSource(new Blob(['x']), 'a.txt')];
  const [first, second] = await Promise.all([api.resume('transfer-1', files), api.resume('transfer-1', files)]);
  expect(second).toBe(first);
  life.abort(new BatonClientError('aborted', 'over'));
  await expect(first.done).rejects.toMatchObject({ code: 'aborted' });
});
