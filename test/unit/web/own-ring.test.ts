import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BatonClient, BatonClientError } from '../../../shared/client/index.ts';
import type { Keyring } from '../../../shared/client/sealed.ts';
import type { Linked, TakenTexts } from '../../../shared/client/sealing.ts';

// The code expects this of a browser, and the test does not use it.
Object.assign(globalThis, { addEventListener: () => {}, indexedDB: {} });
const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};

const LINKED = {
  ...{ checkCode: '1234', approver: 'phone' },
  keyring: { device_id: 'laptop', ring: { body: { members: [{ device_id: 'laptop' }] } } } as unknown as Keyring,
} as Linked;

let takeGrant: () => Promise<Linked | null>;
jest.unstable_mockModule('../../../shared/client/sealing.ts', () => ({
  makeSealing: () => ({ rings: { takeGrant: () => takeGrant() } }),
}));
const { keptWords } = await import('../../../services/web/kept-words.ts');
const { GRANT, keepKeyState, keyState } = await import('../../../services/web/sealing/key-state.ts');
const { makeOwnRing } = await import('../../../services/web/sealing/own-ring.ts');

const makeRing = () => makeOwnRing({ client: {} as BatonClient, taken: {} as TakenTexts });

/** Takes the approval as the library does: one call after the other, and the first one gets it. */
function takenInTurn(): () => Promise<Linked | null> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const taken = last.then(async () => {
      if (keptWords.get(GRANT) === null) return null;
      await nextTurn();
      keptWords.set(GRANT, null);
      return LINKED;
    });
    last = taken;
    return taken;
  };
}

beforeEach(() => {
  keepKeyState({ kind: 'none' });
  keptWords.set(GRANT, '{}');
});

test('the digits of an approval are asked for, although somebody else who looks for it at once finds none', async () => {
  takeGrant = takenInTurn();
  const ring = makeRing();
  const looked = [ring.takeGrant(false), ring.current()];
  await Promise.allSettled(looked);
  expect(keyState.peek()).toMatchObject({ kind: 'unconfirmed', code: '1234', approver: 'phone', isNew: false });
});

test('an approval that cannot be taken now makes what waits for keys try again once, not at each try', async () => {
  takeGrant = () => Promise.reject(new BatonClientError('keys_gone', 'no keys'));
  const ring = makeRing();
  const told: string[] = [];
  const stop = keyState.subscribe(({ kind }) => void told.push(kind));
  for (let tries = 0; tries < 3; tries += 1) await ring.current().catch(() => {});
  stop();
  expect(told).toEqual(['none', 'lost']);
});

test('a browser is as before where there was no approval to take', async () => {
  takeGrant = () => Promise.resolve(null);
  expect(await makeRing().takeGrant(true)).toBe(false);
  expect(keyState.peek()).toEqual({ kind: 'none' });
});
