import { makeAccountSets } from '../../../services/sync/replicas/account-sets.ts';
import type { Redis } from '../../../shared/service-kit/redis/connections.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import type { ScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';

/** Makes sets whose store can be away. `added` is what the store took. */
function setUp() {
  const keys = makeKeys('test');
  const store = { isAway: true, added: [] as [string, string][] };
  const add = ({ accounts }: { accounts: string }, { account }: { account: string }) => {
    if (store.isAway) return Promise.reject(new Error('away'));
    store.added.push([accounts, account]);
    return Promise.resolve();
  };
  const sets = makeAccountSets({
    redis: { srem: () => Promise.resolve(1) } as unknown as Redis,
    scripts: { define: () => add } as unknown as ScriptLoader,
    keys,
  });
  return { keys, sets, store };
}

test('an account that the store did not take is added with a beat, once, unless it was dropped meanwhile', async () => {
  const { keys, sets, store } = setUp();
  await sets.add('me', 'ann');
  await sets.add('me', 'bob');
  await sets.drop('me', 'bob');
  store.isAway = false;
  sets.addPending('me');
  sets.addPending('me');

  expect(store.added).toEqual([[keys.accounts('me'), 'ann']]);
});

test('what could not be added under a former id of the replica is left out', async () => {
  const { keys, sets, store } = setUp();
  await sets.add('before', 'ann');
  await sets.add('me', 'bob');
  store.isAway = false;
  sets.addPending('me');
  sets.addPending('before');

  expect(store.added).toEqual([[keys.accounts('me'), 'bob']]);
});

test('a stream that opens adds its account once, and again after a drop, a failure, a loss or under another id', async () => {
  const { keys, sets, store } = setUp();
  await sets.ensure('me', 'ann');
  store.isAway = false;
  await sets.ensure('me', 'ann');
  await sets.ensure('me', 'ann');
  await sets.drop('other', 'ann');
  await sets.ensure('me', 'ann');
  await sets.drop('me', 'ann');
  await sets.ensure('me', 'ann');
  sets.recheck();
  await sets.ensure('me', 'ann');
  await sets.ensure('later', 'ann');

  expect(store.added).toEqual([
    [keys.accounts('me'), 'ann'],
    [keys.accounts('me'), 'ann'],
    [keys.accounts('me'), 'ann'],
    [keys.accounts('later'), 'ann'],
  ]);
});

test('a stream that opens while its account is being added waits for that too, and the next one does not', async () => {
  const { sets, store } = setUp();
  store.isAway = false;
  const first = sets.ensure('me', 'ann');
  const second = sets.ensure('me', 'ann');
  await first;

  expect(first).not.toBeNull();
  expect(second).not.toBeNull();
  expect(sets.ensure('me', 'ann')).toBeNull();
  expect(store.added).toHaveLength(1);
});
