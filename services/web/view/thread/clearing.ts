import type { App } from '../../engine/app.ts';
import { removeKept } from '../../files/kept-files.ts';
import { whenFree } from '../../files/when-free.ts';
import type { FilesItem } from '../../history/database.ts';
import { isSealed } from '../../history/history.ts';
import { isWaitingItem } from '../../outbox/queue.ts';

const isUnderWay = ({ state }: FilesItem): boolean => ['preparing', 'offered', 'active'].includes(state);

/** Ends files that are under way. @throws if they go on, because the service cannot be told */
async function end({ history, tabs }: App, { id, ref, isMine, state }: FilesItem): Promise<void> {
  try {
    await (state === 'offered' && !isMine ? tabs.ask('refuse', ref) : tabs.ask('cancel', id));
  } catch (error) {
    const now = await history.item(id);
    // It may have ended by itself meanwhile.
    if (now?.kind === 'files' && isUnderWay(now)) throw error;
  }
}

/** Tells whether something in a thread waits to be sent, or is under way. */
export const isBusy = async ({ history }: App, thread: string): Promise<boolean> =>
  (await history.since(thread, 0)).some((item) => isWaitingItem(item) || (item.kind === 'files' && isUnderWay(item)));

/**
 * Removes a thread from this browser. It first ends what waits or is under way: an item that nobody sees could not be
 * stopped, and an offer that is not answered would come again. @throws if something cannot be ended
 */
export async function clearThread(app: App, thread: string): Promise<void> {
  const { client, entry, history, queue } = app;
  const items = await history.since(thread, 0);
  for (const item of items) {
    if (item.kind === 'files' && isUnderWay(item)) await end(app, item);
    else if (isWaitingItem(item)) await queue.remove(item.id);
  }
  // Otherwise the mailbox hands them over again.
  const sealed = items.filter(isSealed).map(({ ref }) => ref);
  if (sealed.length > 0) await client.messages.acknowledge(sealed);
  for (const { ref } of await history.withBytes(thread)) await whenFree(() => removeKept(entry.userId, ref));
  await history.forgetThread(thread);
}
