import type { AccountSets } from '../../../services/sync/replicas/account-sets.ts';
import type { LeaseStore } from '../../../services/sync/replicas/lease-store.ts';
import { Reaper } from '../../../services/sync/replicas/reaper.ts';
import type { Replica } from '../../../services/sync/replicas/replica.ts';

/** Makes what the store holds of a replica `old` with one account, and the reaper of another replica. */
function makeScene() {
  const held = { counters: new Set(['old']), reaping: new Map<string, string>(), accounts: new Set(['ann']) };
  const scene = {
    ...{ held, graceMs: 0, reconciled: [] as string[], compared: [] as string[] },
    ...{ isSilent: false, unreachable: '', failures: [] as unknown[] },
  };
  let table = { counters: new Set(held.counters), reaping: new Map(held.reaping) };
  let before = held.counters;
  const beat = () => {
    before = table.counters;
    table = { counters: new Set(held.counters), reaping: new Map(held.reaping) };
    return Promise.resolve();
  };
  const replica = {
    id: 'me',
    beat,
    detector: {
      // The counter stood still from one beat to the next.
      dead: () => [...table.counters].filter((id) => before.has(id)).map((id) => ({ id, counter: '1' })),
      orphans: () => [...table.reaping].map(([id, reaper]) => ({ id, reaper })),
      isReaping: (id: string) => table.reaping.get(id) === 'me',
      takeLost: () => [],
    },
  };
  const claim = (id: string, isThere: boolean) => {
    if (isThere) {
      held.counters.delete(id);
      held.reaping.set(id, 'me');
    }
    return Promise.resolve(isThere);
  };
  const leases = {
    claim: (id: string) => claim(id, held.counters.has(id)),
    takeOver: (id: string, reaper: string) =>
      claim(id, (held.reaping.get(id) ?? '') === reaper && !held.counters.has(id)),
    finishReaping: (id: string) => Promise.resolve(void held.reaping.delete(id)),
  };
  const accounts = {
    some: (id: string) =>
      id === scene.unreachable ? Promise.reject(new Error('away')) : Promise.resolve([...held.accounts]),
    drop: (_id: string, account: string) => Promise.resolve(void held.accounts.delete(account)),
    forget: () => Promise.resolve(),
  };
  const reconcile = () => {
    scene.reconciled.push(table.reaping.has('old') ? 'dead' : 'alive');
    return Promise.resolve(scene.graceMs);
  };
  const reaper = new Reaper({
    replica: replica as unknown as Replica,
    leases: leases as unknown as LeaseStore,
    accounts: accounts as unknown as AccountSets,
    reconcile,
    compare: (account) => {
      scene.compared.push(account);
      return scene.isSilent ? Promise.reject(new Error('away')) : Promise.resolve();
    },
    onReaped: () => undefined,
    onFailure: (error) => void scene.failures.push(error),
  });
  /** Runs the reaper as after a beat, to its end. */
  const run = async () => {
    await beat();
    reaper.run();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { scene, held, run };
}

test('every account of a dead replica is reconciled while the replica counts as dead, and again while a grace runs', async () => {
  const { scene, held, run } = makeScene();
  scene.graceMs = 10;
  await run();
  expect([...held.accounts]).toEqual(['ann']);
  scene.graceMs = 0;
  await run();

  expect(scene.failures).toEqual([]);
  expect(scene.reconciled).toEqual(['dead', 'dead']);
  expect(held).toEqual({ counters: new Set(), reaping: new Map(), accounts: new Set() });
});

test.each([
  ['with the lease of the dead one back', ['old']],
  ['and the lease stays lost', []],
])('a claim that the store lost, %s, is made again before anything is reconciled', async (_, leases) => {
  const { scene, held, run } = makeScene();
  scene.graceMs = 10;
  await run();
  scene.graceMs = 0;
  held.reaping.clear();
  held.counters = new Set(leases);
  for (let i = 0; i < 4; i++) await run();

  expect(scene.failures).toEqual([]);
  expect(scene.reconciled).not.toContain('alive');
  expect(held).toEqual({ counters: new Set(), reaping: new Map(), accounts: new Set() });
});

test('an account is forgotten only when the others were made to compare it, as the dead replica may not have told them', async () => {
  const { scene, held, run } = makeScene();
  scene.isSilent = true;
  await run();
  expect(scene.compared).toEqual(['ann']);
  expect([...held.accounts]).toEqual(['ann']);
  scene.isSilent = false;
  await run();

  expect(scene.compared).toEqual(['ann', 'ann']);
  expect([...held.accounts]).toEqual([]);
});

test('a dead replica whose accounts cannot be read holds up no other', async () => {
  const { scene, held, run } = makeScene();
  held.counters = new Set(['away', 'old']);
  scene.unreachable = 'away';
  for (let i = 0; i < 3; i++) await run();
  expect(scene.failures.length).toBeGreaterThan(0);
  expect([...held.accounts]).toEqual([]);
  expect([...held.reaping]).toEqual([['away', 'me']]);
  scene.unreachable = '';
  await run();

  expect(held.reaping.size).toBe(0);
});
