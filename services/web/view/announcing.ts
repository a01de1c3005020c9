import { shared } from '../engine/shared-state.ts';
import type { App } from '../engine/app.ts';
import { changes } from '../engine/app.ts';
import { texts } from '../texts/texts.ts';
import { threads } from './app-context.ts';
import { wordsOf } from './item-words.ts';
import { hrefOf, place } from './navigation.ts';
import { isolated } from './parts/isolated.ts';
import { announcement, notify } from './parts/notices.ts';

/** Matches if both columns are shown. */
const WIDE = matchMedia('(min-width: 48rem)');
/** After an approval here, the new device is not announced for this time, because the user knows about it. */
const OWN_MS = 30_000;
let approvedAt = Number.NEGATIVE_INFINITY;

export function noteApproval(): void {
  approvedAt = performance.now();
}

/**
 * Announces items that come while the user looks at something else, and devices that were let in: once each, without the
 * content. Returns a function that ends it.
 */
export function announceChanges({ history, entry }: App): () => void {
  let known: ReadonlySet<string> | null = null;
  const stopDevices = shared.subscribe(({ devices, listed }) => {
    if (listed !== 'now' || devices.length === 0) return;
    for (const { device_id, name } of devices) {
      if (
        known !== null &&
        !known.has(device_id) &&
        device_id !== entry.deviceId &&
        performance.now() - approvedAt > OWN_MS
      ) {
        notify(texts.value.announce.added(name));
      }
    }
    known = new Set(devices.map(({ device_id }) => device_id));
  });
  /** The unread items of each thread at its last change. */
  const unread = new Map<string, number>();
  const stopThreads = changes.subscribe(({ thread }) => {
    if (thread === '') return;
    const listed = threads.peek().get(thread)?.unread ?? 0;
    void Promise.all([history.threads(), history.newest(thread)]).then(([all, item]) => {
      const now = all.find(({ id }) => id === thread);
      const before = unread.get(thread) ?? listed;
      unread.set(thread, now?.unread ?? 0);
      const at = place.peek();
      const isSeen = at.name === 'device' && at.id === thread && document.visibilityState === 'visible';
      if (now === undefined || now.unread <= before) return;
      const { announce } = texts.value;
      const isFiles = item?.kind === 'files' && !item.isMine;
      const said = isFiles ? announce.sends(now.name, isolated(wordsOf(item))) : announce.message(now.name);
      // If the list of devices is visible, its count is enough for messages. Files wait for an answer.
      const isListed = at.name === 'home' || WIDE.matches;
      // A notice is read by screen readers too.
      if (!isSeen && (isFiles || !isListed)) notify(said, false, hrefOf('device', thread));
      else announcement.value = said;
    });
  });
  return () => {
    stopDevices();
    stopThreads();
  };
}
