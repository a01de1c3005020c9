import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatonClientError } from '../../../shared/client/index.ts';
import type { Parts } from '../../../services/web/engine/parts.ts';

// The code expects this of a browser, and the test does not use it.
Object.assign(globalThis, { window: {}, addEventListener: () => {}, indexedDB: {} });
const { jest } = import.meta;
const { startKeys } = await import('../../../services/web/sealing/following.ts');
const { keepKeyState } = await import('../../../services/web/sealing/key-state.ts');

/** Lets the work go on that waits for no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

test('a removed device is noted as removed, although the browser could not do so at first', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    keepKeyState({ kind: 'keyed' });
    const listeners = new Map<string, (event: object) => void>();
    const [noted, told] = [[] as string[], [] as object[]];
    let failures = 1;
    const sealing = {
      async noteRemoved(id: string) {
        failures -= 1;
        if (failures >= 0) throw new BatonClientError('unexpected', 'No keys now', { action: 'retry' });
        noted.push(id);
      },
      openKept: () => Promise.resolve(),
      takeOutGone: () => {},
    };
    const parts = {
      client: { on: (name: string, listener: (event: object) => void) => void listeners.set(name, listener) },
      keys: { open: () => Promise.resolve(sealing), ifKeyed: () => Promise.resolve(sealing) },
    } as unknown as Parts;
    startKeys(parts, (part) => void told.push(part));
    const removal = { name: 'device:removed', data: { device_id: 'phone', reason: 'removed' } };
    listeners.get('event')?.(removal);
    await settle();
    expect([noted, told]).toEqual([[], []]);
    await jest.advanceTimersByTimeAsync(2_000);
    await settle();
    expect([noted, told]).toEqual([['phone'], [{ removed: 'phone' }]]);
  } finally {
    jest.useRealTimers();
  }
});
