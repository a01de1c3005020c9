const ofPage = new Map<string, Promise<unknown>>();

function inTurnHere<T>(name: string, work: () => Promise<T>): Promise<T> {
  const next = (ofPage.get(name) ?? Promise.resolve()).then(work);
  ofPage.set(
    name,
    next.catch(() => {}),
  );
  return next;
}

/**
 * One after the other, in all tabs of this origin. Pages without TLS have no locks, and if storage is blocked they are
 * refused; then this holds only within the page.
 */
export async function inLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  let isHeld = false;
  try {
    return await navigator.locks.request(name, () => {
      isHeld = true;
      return work();
    });
  } catch (error) {
    if (isHeld) throw error;
    return inTurnHere(name, work);
  }
}
