import { effect } from '@preact/signals';
import { changes, endedBy, isHistoryLost } from './app.ts';
import type { Parts } from './parts.ts';
import { runningIds } from './shared-state.ts';

/** How long the files of an offer may take to be kept. Until then they count as lost with the page. */
const KEPT_WITHIN_MS = 2_000;

function ask(event: Event): void {
  // The page of a session that is over is reloaded, and has nothing to lose.
  if (endedBy.peek() === null) event.preventDefault();
}

/**
 * Lets the browser ask before this tab is closed or reloaded, while it leads and moves files that the user would have to
 * choose again. Received files outlast the page, unless only the page knows of them: then it asks until they are saved, and
 * until everything is sent. The listener exists only then, because the browser keeps no page with one for the way back. The
 * returned function ends it.
 */
export function askBeforeLeaving(
  { history, queue, tabs }: Pick<Parts, 'history' | 'queue' | 'tabs'>,
  page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> = globalThis,
): () => void {
  let turn = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Tells whether a transfer cannot go on by itself in the next page, or by a click. */
  async function isLostWithPage(id: string): Promise<boolean> {
    if (isHistoryLost.peek()) return true;
    const item = (await history.item(id)) ?? (await history.byRef(id));
    // Received bytes are on the disk.
    return item?.isMine === true && (await history.sources.of(id)) === null;
  }

  /** Tells whether this page has the only word of files that are not saved, or of items that are not sent. */
  async function isOnlyHere(): Promise<boolean> {
    if (!isHistoryLost.peek()) return false;
    const received = await history.withBytes(null);
    return received.some(({ state, kept }) => state === 'done' && kept === 'here') || (await queue.all()).length > 0;
  }

  async function look(ids: readonly string[]): Promise<void> {
    turn += 1;
    const own = turn;
    // If the database fails, the next page may not find the files either.
    const lost = await Promise.all([isOnlyHere(), ...ids.map(isLostWithPage)].map((one) => one.catch(() => true)));
    if (own !== turn) return;
    if (lost.includes(true)) page.addEventListener('beforeunload', ask);
    else page.removeEventListener('beforeunload', ask);
  }

  const stop = effect(() => {
    const ids = tabs.isLeading.value ? [...runningIds.value] : [];
    if (isHistoryLost.value) void changes.value;
    clearTimeout(timer);
    void look(ids);
    if (ids.length > 0) timer = setTimeout(() => void look(ids), KEPT_WITHIN_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
    turn += 1;
    page.removeEventListener('beforeunload', ask);
  };
}
