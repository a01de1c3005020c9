import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { shared } from '../engine/shared-state.ts';
import { keptWords } from '../kept-words.ts';
import { GRANT, keyState } from '../sealing/key-state.ts';
import { others, type Peer } from './app-context.ts';
import { go, place } from './navigation.ts';

/** True: another device has just let this browser in, and the app has not opened its thread yet. */
export const isLetIn = signal(false);

/**
 * Returns the device that let this one in: the one whose approval gave the keys, else the only one, or the only one that is
 * online. Undefined if nothing tells.
 */
function whoLetIn(all: readonly Peer[]): Peer | undefined {
  const state = keyState.value;
  if (state.kind === 'unconfirmed') return all.find(({ id }) => id === state.approver);
  const devices = all.filter(({ kind }) => kind === 'device');
  const online = devices.filter(({ isOnline }) => isOnline);
  return [devices, online].find(({ length }) => length === 1)?.[0];
}

/** Opens the thread of the device that let this one in, once it is known, and unless the user goes elsewhere before. */
export function useLanding(): void {
  const [at, { listed }, all, keys] = [place.value.name, shared.value, others.value, keyState.value];
  useEffect(() => {
    if (!isLetIn.peek()) return;
    if (at === 'home' && (listed !== 'now' || (keys.kind !== 'unconfirmed' && keptWords.get(GRANT) !== null))) return;
    isLetIn.value = false;
    const peer = at === 'home' ? whoLetIn(all) : undefined;
    if (peer !== undefined) go('device', peer.id);
  }, [at, listed, all, keys]);
}
