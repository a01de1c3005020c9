import { computed, effect, signal } from '@preact/signals';
import { isOffline } from '../engine/network.ts';
import { shared } from '../engine/shared-state.ts';

/** How long a connection may take before the user is told. */
const PATIENCE_MS = 1_500;

/** True: no stream is open. The browser may open one just now. */
const isDown = computed(() => shared.value.connection !== 'online');
const isLate = signal(false);
effect(() => {
  isLate.value = false;
  if (!isDown.value) return;
  const timer = setTimeout(() => {
    isLate.value = true;
  }, PATIENCE_MS);
  return () => clearTimeout(timer);
});

/** True: there is no connection, and the user is told so. Nobody knows who is online. */
export const isCutOff = computed(() => isOffline.value || (isDown.value && isLate.value));
