import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { changes } from '../../engine/app.ts';
import { makePaced } from '../../engine/paced.ts';
import type { Item } from '../../history/database.ts';
import { type History, PAGE_ITEMS } from '../../history/history.ts';
import { useApp } from '../app-context.ts';
import { sameObjects } from './same-objects.ts';

/** The most items in the page while the user follows new ones. */
const MOST_FOLLOWED = 4 * PAGE_ITEMS;

export interface Shown {
  items: readonly Item[];
  hasOlder: boolean;
}

const isSameList = (next: Shown, shown: Shown | null): boolean =>
  next.hasOlder === shown?.hasOlder &&
  next.items.length === shown.items.length &&
  next.items.every((item, i) => item === shown.items[i]);

interface Parts {
  history: History;
  thread: string;
  /** The item to show. */
  wanted: string | undefined;
  /** Tells whether the newest items are visible. */
  isFollowed: () => boolean;
  show: (shown: Shown) => void;
  /** Called when the newest items are shown. */
  seen: () => void;
}

/**
 * Makes a window with all items of a thread from some time on. Items that come while it is read are never left out. One
 * read runs at a time, so that none ends with fewer items than the one before it. The items of a burst are read together.
 */
function makeWindow({ history, thread, wanted, isFollowed, show, seen }: Parts) {
  /** Null: not read yet. 0: nothing is older. */
  let from: number | null = null;
  let shown: Shown | null = null;

  async function start(): Promise<number> {
    const [newest, item] = [
      await history.pageStart(thread),
      wanted === undefined ? undefined : await history.item(wanted),
    ];
    return item?.thread === thread ? Math.min(newest, item.at) : newest;
  }

  async function read(): Promise<void> {
    from ??= await start();
    let items = await history.since(thread, from);
    if (items.length > MOST_FOLLOWED && isFollowed()) {
      const newest = await history.pageStart(thread);
      from = newest;
      items = items.filter(({ at }) => at >= newest);
    }
    const next = { items: sameObjects(items, shown?.items ?? []), hasOlder: from > 0 };
    if (!isSameList(next, shown)) show(next);
    shown = next;
    seen();
  }

  const refresh = makePaced(read);
  return {
    refresh,
    async older(): Promise<void> {
      if (from !== null && from > 0) from = await history.pageStart(thread, from);
      await refresh();
    },
  };
}

/** Returns the items of a thread, read again when it changes. `older` shows earlier ones. */
export function useItems(id: string, wanted: string | undefined, isFollowed: () => boolean) {
  const { history } = useApp();
  const shown = useSignal<Shown | null>(null);
  const made = useRef<ReturnType<typeof makeWindow> | null>(null);
  const isOpen = useRef(false);
  const seen = (): void => {
    if (isOpen.current && document.visibilityState === 'visible') void history.read(id);
  };
  made.current ??= makeWindow({
    ...{ history, thread: id, wanted, isFollowed, seen },
    show: (next) => {
      shown.value = next;
    },
  });
  const { refresh, older } = made.current;
  useEffect(() => {
    const read = (): void => void refresh().catch(() => {});
    isOpen.current = true;
    // Subscribes to each change, because a component sees only the last of several changes before the next drawing.
    const stop = changes.subscribe(({ thread }) => {
      if (thread === id) read();
    });
    if (shown.peek() === null) read();
    document.addEventListener('visibilitychange', seen);
    return () => {
      isOpen.current = false;
      stop();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [id]);
  return { shown: shown.value, older };
}
