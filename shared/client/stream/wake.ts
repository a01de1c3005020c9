/**
 * Calls `listener` when a page may have slept: shown again, restored from the back-forward cache, back on a network. Phones
 * suspend a page without closing its connections, and nothing else reports afterwards that they are dead. Does nothing
 * outside a page. The returned function ends it.
 */
export function onWake(listener: () => void): () => void {
  if (typeof document === 'undefined' || typeof window === 'undefined') return () => {};
  const shown = () => {
    if (document.visibilityState === 'visible') listener();
  };
  const restored = (event: PageTransitionEvent) => {
    if (event.persisted) listener();
  };
  const listening = new AbortController();
  const { signal } = listening;
  document.addEventListener('visibilitychange', shown, { signal });
  window.addEventListener('pageshow', restored, { signal });
  window.addEventListener('online', listener, { signal });
  return () => listening.abort();
}
