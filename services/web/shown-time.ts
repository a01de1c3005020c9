import { signal } from '@preact/signals';
import { serverNow } from './server-time.ts';

const MINUTE_MS = 60_000;

let stop = (): void => {};

/** Changes each minute while the page is visible, and when it is shown again, as long as a text depends on it. */
const minute = signal(0, {
  watched() {
    const tick = () => {
      if (document.visibilityState === 'visible') minute.value += 1;
    };
    const timer = setInterval(tick, MINUTE_MS);
    document.addEventListener('visibilitychange', tick);
    stop = () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  },
  unwatched: () => stop(),
});

/**
 * Returns the time by the service's clock, for texts about how long ago something was. What reads it is drawn again each
 * minute.
 */
export function shownNow(): number {
  void minute.value;
  return serverNow();
}
