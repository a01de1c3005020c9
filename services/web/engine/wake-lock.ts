import { effect } from '@preact/signals';
import { movingIds } from './shared-state.ts';

/** A lock of the browser that keeps the screen on (W3C Screen Wake Lock). */
interface Lock {
  release: () => Promise<void>;
}
interface Waking {
  visibility: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>;
  request: () => Promise<Lock>;
}

const HERE: Waking = {
  visibility: globalThis.document,
  request: () => navigator.wakeLock?.request('screen') ?? Promise.reject(new Error('Not here')),
};

/**
 * Keeps the screen on while files move, as long as this page is visible. The browser takes the lock away from a hidden page,
 * so it is requested again. The returned function ends it.
 */
export function keepAwake({ visibility, request }: Waking = HERE): () => void {
  let held: Promise<Lock | null> | null = null;

  function look(): void {
    const isWanted = movingIds.value.size > 0 && visibility.visibilityState === 'visible';
    if (isWanted) held ??= request().catch(() => null);
    else if (held !== null) {
      const old = held;
      held = null;
      void old.then((lock) => lock?.release()).catch(() => {});
    }
  }

  const stop = effect(look);
  visibility.addEventListener('visibilitychange', look);
  return () => {
    stop();
    visibility.removeEventListener('visibilitychange', look);
    void held?.then((lock) => lock?.release()).catch(() => {});
    held = null;
  };
}
