import type { transferRoutes } from '../../../shared/contract/transfers.ts';
import type { Handler, HandlersOf } from '../http/handler.ts';
import { deviceCallerOf } from '../identity/caller.ts';
import type { TransferAction } from './store.ts';
import type { Transfers } from './transfers.ts';

type Acting = (typeof transferRoutes)['acceptTransfer'];
type Ending = (typeof transferRoutes)['failTransfer'];

export function makeTransferHandlers(transfers: Transfers): HandlersOf<typeof transferRoutes> {
  const acting =
    (action: TransferAction): Handler<Acting> =>
    async ({ caller, params }) => ({
      status: 200,
      body: { transfer: await transfers.act(deviceCallerOf(caller), params.transfer_id, action) },
    });
  const ending =
    (action: 'fail' | 'cancel'): Handler<Ending> =>
    async ({ caller, params, body }) => ({
      status: 200,
      body: { transfer: await transfers.act(deviceCallerOf(caller), params.transfer_id, action, body) },
    });

  return {
    initTransfer: async ({ caller, body, operation }) => ({
      status: 201,
      body: await transfers.init(deviceCallerOf(caller), body, { operation, isGuest: caller.scope === 'guest' }),
    }),
    listTransfers: async ({ caller, query }) => ({
      status: 200,
      body: await transfers.list(deviceCallerOf(caller), query),
    }),
    getTransfer: async ({ caller, params }) => ({
      status: 200,
      body: { transfer: await transfers.get(deviceCallerOf(caller), params.transfer_id) },
    }),
    acceptTransfer: acting('accept'),
    rejectTransfer: acting('reject'),
    p2pTransfer: acting('p2p'),
    relayTransfer: acting('relay'),
    completeTransfer: acting('complete'),
    failTransfer: ending('fail'),
    cancelTransfer: ending('cancel'),
    phaseTransfer: async ({ caller, params, body }) => ({
      status: 200,
      body: {
        transfer: await transfers.tell(deviceCallerOf(caller), params.transfer_id, {
          phase: body.phase,
          sentBytes: body.progress?.sent_bytes,
          receivedBytes: body.progress?.received_bytes,
        }),
      },
    }),
  };
}
