import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { attempt } from '../parts/notices.ts';
import { useItems } from './items-window.ts';
import { markSought } from './sought.ts';

/** Within this distance of the end, new items are followed. */
const NEAR_END_PX = 120;

type Box = { current: HTMLDivElement | null };

const isNearEnd = ({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean =>
  scrollTop + clientHeight > scrollHeight - NEAR_END_PX;

/** Keeps the visible items in place when older items are put above them, even when new ones come meanwhile. */
function useAnchor(box: Box) {
  const kept = useRef<{ item: Element; top: number } | null>(null);
  const first = () => box.current?.querySelector('.item') ?? null;
  return {
    keep(): void {
      const item = first();
      if (item === null || box.current === null) return;
      kept.current = { item, top: item.getBoundingClientRect().top };
      // Some browsers do the same by themselves, but not at the very top. This turns that off, so that it is done once.
      box.current.style.overflowAnchor = 'none';
    },
    /** Called before anything is drawn, because the user may have scrolled since `keep`. */
    look(): void {
      if (kept.current !== null) kept.current.top = kept.current.item.getBoundingClientRect().top;
    },
    restore(): void {
      if (kept.current === null || box.current === null || kept.current.item === first()) return;
      const { item, top } = kept.current;
      kept.current = null;
      box.current.scrollTop += item.getBoundingClientRect().top - top;
      box.current.style.overflowAnchor = '';
    },
  };
}

/** Keeps the newest item visible when a picture, a bar or a keyboard changes heights. */
function useStaying(box: Box, isEmpty: boolean, isAtEnd: { current: boolean }, look: (scrolled: HTMLElement) => void) {
  useEffect(() => {
    const scrolled = box.current;
    if (scrolled === null) return;
    const observer = new ResizeObserver(() => {
      if (!isAtEnd.current) return;
      scrolled.scrollTop = scrolled.scrollHeight;
      look(scrolled);
    });
    observer.observe(scrolled);
    for (const child of scrolled.children) observer.observe(child);
    return () => observer.disconnect();
  }, [isEmpty]);
}

/** Scrolls a thread: first to the requested item, otherwise to the newest, as long as the user stays there. */
export function useScrolling(id: string, at: string | undefined) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(at === undefined);
  const isSought = useRef(at !== undefined);
  const seenTop = useRef(0);
  /** True: the newest items are not visible. */
  const isAway = useSignal(at !== undefined);
  const seenAt = useRef(Number.POSITIVE_INFINITY);
  const look = (scrolled: HTMLElement): void => {
    seenTop.current = scrolled.scrollTop;
    isAtEnd.current = isNearEnd(scrolled);
    isAway.value = !isAtEnd.current;
  };
  const isFollowed = (): boolean => {
    // The user has scrolled, and the event has not come yet.
    if (box.current !== null && box.current.scrollTop !== seenTop.current) look(box.current);
    return isAtEnd.current;
  };
  const { shown, older } = useItems(id, at, isFollowed);
  const anchor = useAnchor(box);
  // Checked before anything new is drawn.
  isFollowed();
  anchor.look();
  useLayoutEffect(() => {
    if (shown === null || box.current === null) return;
    const wanted = isSought.current ? document.getElementById(`item-${at}`) : null;
    isSought.current = false;
    anchor.restore();
    if (wanted !== null) {
      wanted.scrollIntoView({ block: 'center' });
      markSought(wanted);
    } else if (isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
    look(box.current);
    const newest = shown.items.at(-1)?.at ?? 0;
    if (isAtEnd.current || seenAt.current === Number.POSITIVE_INFINITY) seenAt.current = newest;
  }, [shown]);
  useStaying(box, shown === null || shown.items.length === 0, isAtEnd, look);
  const toEnd = (): void => {
    if (box.current === null) return;
    isAtEnd.current = true;
    box.current.scrollTop = box.current.scrollHeight;
    look(box.current);
    seenAt.current = shown?.items.at(-1)?.at ?? 0;
  };
  const fresh = isAway.value ? (shown?.items.filter((one) => !one.isMine && one.at > seenAt.current).length ?? 0) : 0;
  const showOlder = () =>
    attempt(() => {
      isAtEnd.current = false;
      anchor.keep();
      return older();
    }, texts.value.failed.older);
  return { box, shown, showOlder, look, toEnd, isAway: isAway.value, fresh };
}
