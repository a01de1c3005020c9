import { makeKeys } from '../../services/sync/redis/keys.ts';

/** Sends one command to the node that has the key, which is its second word. */
type Send = (command: string, ...args: [key: string, ...rest: (string | number)[]]) => Promise<unknown>;

/** Makes the 24 hours of a transfer end now, by the times in the store. */
export async function endTimeOf(transferId: string, user: string, prefix: string, send: Send): Promise<void> {
  const keys = makeKeys(prefix);
  const account = encodeURIComponent(user);
  await send('ZADD', keys.due(account), 1, `transfer:${transferId}`);
  await send('ZADD', keys.dueIndex(keys.dueShard(account)), 1, account);
}
