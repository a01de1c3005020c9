import { signal } from '@preact/signals';

/** True: the browser reports that there is no network. */
export const isOffline = signal(!navigator.onLine);

for (const name of ['online', 'offline']) {
  addEventListener(name, () => {
    isOffline.value = !navigator.onLine;
  });
}
