const LOCK = 'baton-notifications';
/** A page that is suspended keeps its lock; a push has to show something all the same. */
const WAIT_MS = 1_000;

/**
 * Shows a notification, or reads which are shown: one after the other in worker and pages. Chromium writes a notification
 * down before it displays it, and a list that is asked for in between forgets it: the app cannot find it to close it.
 */
export async function inNotificationTurn<T>(work: () => Promise<T>): Promise<T> {
  let isHeld = false;
  try {
    return await navigator.locks.request(LOCK, { signal: AbortSignal.timeout(WAIT_MS) }, () => {
      isHeld = true;
      return work();
    });
  } catch (error) {
    if (isHeld) throw error;
    return work();
  }
}
