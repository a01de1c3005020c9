import type { PushQueue } from '../push/push-queue.ts';
import type { Db } from '../redis/db.ts';
import type { Replica } from '../replicas/replica.ts';
import { makeTransferHandlers } from './routes.ts';
import { makeTransferStore } from './store.ts';
import { makeTransfers } from './transfers.ts';

type Rules = Parameters<typeof makeTransfers>[0];

interface TransfersModuleParts {
  db: Db;
  replica: Replica;
  redeliveryMs: number;
  pushQueue: PushQueue;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  onState: Rules['onState'];
  dropRelayed: Rules['dropRelayed'];
  relayOffsets: Rules['relayOffsets'];
  onFailure: Rules['onFailure'];
}

export function makeTransfersModule(parts: TransfersModuleParts) {
  const { db, replica, redeliveryMs, scheduleDue, pushQueue } = parts;
  const transfers = makeTransfers({
    store: makeTransferStore({ ...db, redeliveryMs, replica, scheduleDue, pushQueue }),
    isDeadChannel: replica.isDeadChannel,
    onState: parts.onState,
    dropRelayed: parts.dropRelayed,
    relayOffsets: parts.relayOffsets,
    onFailure: parts.onFailure,
  });
  return { transfers, handlers: makeTransferHandlers(transfers) };
}
