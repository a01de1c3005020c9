import type { transferRoutes } from '../../../shared/contract/transfers.ts';
import type { Handler, HandlersOf } from '../http/handler.ts';
import type { Caller } from '../identity/caller.ts';
import type { TransferAction } from './store.ts';
import type { Actor, Transfers } from './transfers.ts';

/** The guard lets no caller without a device get here. */
const actorOf = ({ account, deviceId }: Caller): Actor => ({ account, deviceId: deviceId as string });

type Acting = (typeof transferRoutes)['acceptTransfer'];
type Ending = (typeof transferRoutes)['failTransfer'];

export function makeTransferHandlers(transfers: Transfers): HandlersOf<typeof transferRoutes> {
  const acting =
    (action: TransferAction): Handler<Acting> =>
    async ({ caller, params }) => ({
      status: 200,
      body: { transfer: await transfers.act(actorOf(caller), params.transfer_id, action) },
    });
  const ending =
    (action: 'fail' | 'cancel'): Handler<Ending> =>
    async ({ caller, params, body }) => ({
      status: 200,
      body: { transfer: await transfers.act(actorOf(caller), params.transfer_id, action, body) },
    });

  return {
    initTransfer: async ({ caller, body, operation }) => ({
      status: 201,
      body: await transfers.init(actorOf(caller), body, operation),
    }),
    listTransfers: async ({ caller, query }) => ({ status: 200, body: await transfers.list(actorOf(caller), query) }),
    getTransfer: async ({ caller, params }) => ({
      status: 200,
      body: { transfer: await transfers.get(actorOf(caller), params.transfer_id) },
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
        transfer: await transfers.tell(actorOf(caller), params.transfer_id, {
          phase: body.phase,
          sentBytes: body.progress?.sent_bytes,
          receivedBytes: body.progress?.received_bytes,
        }),
      },
    }),
  };
}
