const LOCK = 'baton-notifications';
/** The longest wait for the lock. A suspended page keeps its lock, but a push must still show something. */
const WAIT_MS = 1_000;

/**
 * Runs work that shows or lists notifications, one after the other in worker and pages. Chromium records a notification
 * before it displays it. A list that is requested in between does not contain it, so that the app cannot find and close it.
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
