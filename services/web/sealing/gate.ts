import { BatonClientError } from '../../../shared/client/index.ts';
import { keptWords } from '../kept-words.ts';
import type { AppSealing, SealingParts } from './app-sealing.ts';
import { GRANT, isKnownWithoutKeys, keepKeyState, keyState, noteWithoutKeys } from './key-state.ts';
import { keyableSession } from './may-have-keys.ts';

/** Makes the way to the code that seals, which loads with its first use. */
export function makeGate(parts: SealingParts) {
  let loaded: Promise<AppSealing> | null = null;
  const open = (): Promise<AppSealing> => {
    loaded ??= import('./app-sealing.ts')
      .then(({ makeAppSealing }) => makeAppSealing(parts))
      .catch((error: unknown) => {
        loaded = null;
        // Otherwise what waits to be sent would count as refused.
        throw new BatonClientError('network', 'The code that seals cannot be loaded', {
          action: 'retry',
          cause: error,
        });
      });
    return loaded;
  };
  const isWithout = (): boolean => keyState.peek().kind === 'none' && keptWords.get(GRANT) === null;
  const ifKeyed = async (): Promise<AppSealing | null> => (isWithout() ? null : open());

  /**
   * Finds out once whether this browser had keys, if it does not know: its storage may have been cleared while its cookie
   * stayed.
   */
  async function look(): Promise<void> {
    const session = isWithout() ? await keyableSession() : null;
    const deviceId = session?.device?.device_id ?? null;
    if (deviceId === null || isKnownWithoutKeys(deviceId)) return;
    const isNamed = await (await open()).namesThisDevice();
    if (!isWithout() || isKnownWithoutKeys(deviceId)) return;
    if (isNamed) keepKeyState({ kind: 'lost' });
    else noteWithoutKeys(deviceId);
  }

  let looking: Promise<void> | null = null;
  return {
    open,
    /** Null: this browser has no keys, and goes on without. */
    ifKeyed,
    /** Does the same before something is sent. It throws if it is not known whether this browser had keys. */
    async toSend(): Promise<AppSealing | null> {
      looking ??= look().finally(() => {
        looking = null;
      });
      await looking;
      return ifKeyed();
    },
  };
}

export type Gate = ReturnType<typeof makeGate>;
