import type { PushQueue } from '../push/push-queue.ts';
import type { Confirm } from '../redis/confirmer.ts';
import type { Db } from '../redis/db.ts';
import type { Replica } from '../replicas/replica.ts';
import { makeMessages } from './messages.ts';
import { makeMessageHandlers } from './routes.ts';
import { makeMessageStore } from './store.ts';

interface MessagesModuleParts {
  db: Db;
  /** Asks replicas of Redis for a confirmation. Null: a message that the primary accepted is accepted. */
  confirm: Confirm | null;
  replica: Replica;
  pushQueue: PushQueue;
  onAccepted: () => void;
}

export function makeMessagesModule({ db, confirm, replica, ...parts }: MessagesModuleParts) {
  const { scripts, keys } = db;
  const messages = makeMessages({
    store: makeMessageStore({ scripts, keys, confirm, replica, pushQueue: parts.pushQueue }),
    isDeadChannel: replica.isDeadChannel,
    onAccepted: parts.onAccepted,
  });
  return { unacknowledged: messages.unacknowledged, handlers: makeMessageHandlers(messages) };
}
