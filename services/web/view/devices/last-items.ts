import { signal } from '@preact/signals';
import { changes } from '../../engine/app.ts';
import { makePaced } from '../../engine/paced.ts';
import type { Item } from '../../history/database.ts';
import type { History } from '../../history/history.ts';

/** The newest item of each thread. */
export const lastItems = signal<ReadonlyMap<string, Item>>(new Map());

/**
 * Keeps `lastItems` up to date until the returned function is called. It reads each thread that has changed meanwhile once,
 * however often it has changed.
 */
export function followLastItems(history: Pick<History, 'threads' | 'newest'>): () => void {
  const stale = new Set<string>();
  let isOver = false;

  const read = makePaced(async () => {
    if (isOver) return;
    const ids = [...stale];
    stale.clear();
    const reading = Promise.all(ids.map(async (id) => [id, await history.newest(id)] as const));
    const found = await reading.catch((error: unknown) => {
      // It is read again with the next change.
      for (const id of ids) stale.add(id);
      throw error;
    });
    const next = new Map(lastItems.peek());
    for (const [id, item] of found) {
      if (item === undefined) next.delete(id);
      else next.set(id, item);
    }
    if (!isOver) lastItems.value = next;
  });

  const readSafely = (): void => void read().catch(() => {});
  void history
    .threads()
    .then((all) => {
      for (const { id } of all) stale.add(id);
      readSafely();
    })
    .catch(() => {});
  const stop = changes.subscribe(({ thread }) => {
    if (thread === '') return;
    stale.add(thread);
    readSafely();
  });
  return () => {
    isOver = true;
    stop();
  };
}
