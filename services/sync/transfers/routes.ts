import type { transferRoutes } from '../../../shared/contract/modules/transfers.ts';
import type { Handler, HandlersOf } from '../http/handler.ts';
import { deviceCallerOf } from '../identity/caller.ts';
import type { TransferAction } from './store.ts';
import type { Transfers } from './transfers.ts';

type Acting = (typeof transferRoutes)['acceptTransfer'];
type Ending = (typeof transferRoutes)['failTransfer'];

/** Returns an answer that is a transfer. */
const shown = (transfer: string) => ({ status: 200 as const, json: `{"transfer":${transfer}}` });

export function makeTransferHandlers(transfers: Transfers): HandlersOf<typeof transferRoutes> {
  const acting =
    (action: TransferAction): Handler<Acting> =>
    async ({ caller, params }) =>
      shown(await transfers.act(deviceCallerOf(caller), params.transfer_id, action));
  const ending =
    (action: 'fail' | 'cancel'): Handler<Ending> =>
    async ({ caller, params, body }) =>
      shown(await transfers.act(deviceCallerOf(caller), params.transfer_id, action, body));

  return {
    initTransfer: async ({ caller, body, operation }) => {
      const isGuest = caller.scope === 'guest';
      const { transfer, isOnline } = await transfers.init(deviceCallerOf(caller), body, { operation, isGuest });
      return { status: 201, json: `{"transfer":${transfer},"receiver_online":${isOnline}}` };
    },
    listTransfers: async ({ caller, query }) => ({
      status: 200,
      json: await transfers.list(deviceCallerOf(caller), query),
    }),
    getTransfer: async ({ caller, params }) => shown(await transfers.get(deviceCallerOf(caller), params.transfer_id)),
    acceptTransfer: acting('accept'),
    rejectTransfer: acting('reject'),
    p2pTransfer: acting('p2p'),
    relayTransfer: acting('relay'),
    completeTransfer: acting('complete'),
    failTransfer: ending('fail'),
    cancelTransfer: ending('cancel'),
    phaseTransfer: async ({ caller, params, body }) => {
      const report = {
        phase: body.phase,
        sentBytes: body.progress?.sent_bytes,
        receivedBytes: body.progress?.received_bytes,
      };
      return shown(await transfers.tell(deviceCallerOf(caller), params.transfer_id, report));
    },
  };
}
