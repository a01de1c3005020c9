import type { Caller } from '../../../services/sync/identity/caller.ts';
import type { PushStore } from '../../../services/sync/push/store.ts';
import { makeSubscriptions } from '../../../services/sync/push/subscriptions.ts';

/** Makes an account with a registration of each device, whose store fails at one call, and what it holds. */
function makeScene(failsAt: number) {
  const registered = new Map([
    ['phone', { id: 's1', deviceId: 'phone', hash: 'h1', fence: '1', target: { kind: 'web' } }],
    ['laptop', { id: 's2', deviceId: 'laptop', hash: 'h2', fence: '2', target: { kind: 'web' } }],
  ]);
  const owned = new Set(['h1', 'h2']);
  let left = failsAt;
  /** Fails as a replica that dies before this call. */
  const call = async <T>(act: () => T): Promise<T> => {
    left -= 1;
    if (left === 0) throw new Error('killed');
    return act();
  };
  const drop = (deviceId: string) => {
    const found = registered.get(deviceId);
    registered.delete(deviceId);
    return found === undefined ? [] : [found];
  };
  const store = {
    list: () => call(() => [...registered.values()]),
    drop: (_: string, deviceId: string) => call(() => drop(deviceId)),
    erase: () => call(() => registered.clear()),
    release: ({ hash }: { hash: string }) => call(() => void owned.delete(hash)),
  } as unknown as PushStore;
  const onFailure = (): void => undefined;
  const subscriptions = makeSubscriptions({
    store,
    onFailure,
    native: [],
    rules: {} as never,
    vapid: async () => null,
  });
  /** Lets all calls work from here on. */
  const revive = (): void => void (left = 0);
  return { subscriptions, revive, held: () => [...registered.keys(), ...owned].sort() };
}

/** More than the calls of any removal here. */
const CALLS = [1, 2, 3, 4, 5, 6, 7];

test.each(CALLS)(
  'a removal of a device that is killed at call %d and repeated leaves no target owned',
  async (failsAt) => {
    const { subscriptions, revive, held } = makeScene(failsAt);
    await subscriptions.dropDevice('ann', 'phone').catch(() => undefined);
    revive();
    await subscriptions.dropDevice('ann', 'phone');

    expect(held()).toEqual(['h2', 'laptop']);
  },
);

test.each(CALLS)(
  'a removal of a subscription that is killed at call %d and repeated leaves no target owned',
  async (failsAt) => {
    const { subscriptions, revive, held } = makeScene(failsAt);
    const caller = { account: 'ann', deviceId: 'laptop', scope: 'full' } as Caller;
    await subscriptions.remove(caller, 's1').catch(() => undefined);
    revive();
    await subscriptions
      .remove(caller, 's1')
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'not_found' }));

    expect(held()).toEqual(['h2', 'laptop']);
  },
);

test.each(CALLS)('an erasure that is killed at call %d and repeated leaves no target owned', async (failsAt) => {
  const { subscriptions, revive, held } = makeScene(failsAt);
  await subscriptions.dropAccount('ann').catch(() => undefined);
  revive();
  await subscriptions.dropAccount('ann');

  expect(held()).toEqual([]);
});
