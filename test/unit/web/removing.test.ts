import type { App } from '../../../services/web/engine/app.ts';

// A browser has this, but nothing here uses it.
Object.assign(globalThis, { addEventListener: () => {} });
const { keyState } = await import('../../../services/web/sealing/key-state.ts');
const { removeDevice } = await import('../../../services/web/view/devices/removing.ts');

/** Makes an app that notes what is done, in order. */
function noting() {
  const done: string[] = [];
  const note = (what: string) => (ids: string | readonly string[]) => Promise.resolve(void done.push(`${what} ${ids}`));
  const app = {
    keys: { open: () => Promise.resolve({ remove: note('from the ring:') }) },
    client: { devices: { remove: note('signed out:') } },
  } as unknown as App;
  return { app, done };
}

test.each([
  ['a browser with the key of the account', { kind: 'keyed' }, ['from the ring: phone', 'signed out: phone']],
  ['a guest', { kind: 'keyed', isGuest: true }, ['signed out: phone']],
  ['a browser without keys', { kind: 'none' }, ['signed out: phone']],
] as const)('%s removes a device, from the ring first', async (_, state, wanted) => {
  keyState.value = state;
  const { app, done } = noting();
  await removeDevice(app, 'phone');
  expect(done).toEqual(wanted);
});
