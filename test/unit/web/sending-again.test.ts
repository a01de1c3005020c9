import type { Parts } from '../../../services/web/engine/parts.ts';
import type { FilesItem, Item, MessageItem } from '../../../services/web/history/database.ts';
import { makeHistory, makeTurns } from '../../../services/web/history/history.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';
import { makeQueue } from '../../../services/web/outbox/queue.ts';

// The code expects this of a browser, and the test does not use it.
Object.assign(globalThis, { window: {}, addEventListener: () => {} });
Object.assign(globalThis, { IDBKeyRange: { bound: () => ({ includes: () => false }) } });
const { makeOutbox } = await import('../../../services/web/outbox/outbox.ts');

const failed: MessageItem = {
  ...{ id: 'item', ref: '', thread: 'phone', at: 1, isMine: true, kind: 'message' },
  ...{ text: 'hello', state: 'failed', error: 'mailbox_full' },
};
const refused: FilesItem = {
  ...{ id: 'item', ref: 'transfer-1', thread: 'phone', at: 1, isMine: true, kind: 'files' },
  ...{ files: [], fileCount: 1, totalBytes: 1, state: 'refused', error: null, kept: 'nothing' },
};

/** A tab whose user saw this item, and whose service is not asked. */
async function scene(item: Item) {
  const [database, inTurn, asked] = [memoryDatabase(), makeTurns(), [] as unknown[]];
  const queue = makeQueue(database, () => {}, inTurn);
  const history = makeHistory(database, () => {}, inTurn);
  const never = new Promise<never>(() => {});
  const parts = {
    ...{ history, queue, entry: { userId: 'user-1', deviceId: 'laptop' } },
    readiness: { watch: () => {}, look: () => never },
    tabs: { ask: async (...words: unknown[]) => void asked.push(words) },
  } as unknown as Parts;
  await database.put('items', item);
  return { asked, database, history, outbox: makeOutbox(parts), queue };
}

test('a message is sent again once, although its user has clicked twice', async () => {
  const { history, outbox, queue } = await scene(failed);
  await outbox.again(failed);
  const [first] = await queue.all();
  await outbox.again(failed);
  expect(await queue.all()).toEqual([first]);
  // The service has taken the message before the second click.
  await queue.sent('item', 'message-1', 2);
  await outbox.again(failed);
  expect(await queue.all()).toEqual([]);
  expect(await history.item('item')).toMatchObject({ state: 'sent', ref: 'message-1' });
});

test('files are offered again once, although their user has clicked twice', async () => {
  const { asked, outbox, queue } = await scene(refused);
  await outbox.again(refused);
  await outbox.again(refused);
  expect(asked).toEqual([['send-files', 'item', null]]);
  expect(await queue.all()).toHaveLength(1);
});

test('an item that was removed meanwhile does not come back', async () => {
  const { database, history, outbox, queue } = await scene(failed);
  await database.delete('items', 'item');
  await outbox.again(failed);
  expect([await queue.all(), await history.item('item')]).toEqual([[], undefined]);
});
