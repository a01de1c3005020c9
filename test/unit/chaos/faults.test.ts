import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { kindsOf, makeFaults, strictKinds } from '../../chaos/faults/faults.ts';
import type { Fleet, Member } from '../../chaos/fleet.ts';
import type { Proxy } from '../../chaos/faults/proxy.ts';
import { Repairs } from '../../chaos/repairs.ts';
import type { ChaosStore, StoreDamage } from '../../chaos/stores/store.ts';
import type { Takeovers } from '../../chaos/stores/takeovers.ts';

/** A way that notes whether it was harmed. */
class Way {
  held = 0;
  readonly lines = 1;
  hold(): () => void {
    this.held += 1;
    return () => undefined;
  }
}

const LOSS = { since: null, times: 1 };

/** Makes one fault, of a replica with two ways, or of a store that does as told. The first way leads to the leases. */
async function make(kind: string, options: { target?: number; variant?: number; damage?: Partial<StoreDamage> } = {}) {
  const { target = 0, variant = 0.2, damage = {} } = options;
  const ways = [new Way(), new Way()] as unknown as Proxy[];
  const door = { url: '', env: {}, proxies: ways, leaseWay: () => Promise.resolve(ways[0] as Proxy) };
  const fleet = { up: [{ name: 'r1', door } as unknown as Member], pause: () => Promise.resolve() } as unknown as Fleet;
  const harm = () => Promise.resolve({ target: 'the store', loss: null, movedClock: false, ...damage });
  const store = { harms: { harm } } as unknown as ChaosStore;
  const takeovers = { expect: () => () => undefined } as unknown as Takeovers;
  const fault = makeFaults({ fleet, store, takeovers, now: () => performance.now(), say: () => undefined });
  const track = 'store' as const;
  const made = await fault({ kind, track, afterMs: 0, holdMs: 1, target, variant });
  return { ...made, held: ways.map((way) => (way as unknown as Way).held) };
}

describe('a fault is written down as what it may excuse', () => {
  test('a hole on the way to the leases may hide the devices of its replica', async () => {
    expect(await make('hole-to-store')).toMatchObject({ held: [1, 0], replica: 'r1', hidesDevices: true });
  });

  test('a hole on the way to another node hides nobody', async () => {
    expect(await make('hole-to-store', { target: 0.006 })).toMatchObject({ held: [0, 1], hidesDevices: false });
  });

  test('a hole on all ways may hide them', async () => {
    expect(await make('hole-to-replica', { variant: 0.1 })).toMatchObject({ held: [1, 1], hidesDevices: true });
  });

  test('a pause that is longer than a lease may hide them, a shorter one may not', async () => {
    expect((await make('pause-long')).hidesDevices).toBe(true);
    expect((await make('pause-short')).hidesDevices).toBe(false);
  });

  test('a store that was away and lost nothing hides nobody, one that lost something or has another clock may', async () => {
    expect(await make('harm')).toMatchObject({ hidesDevices: false, replica: null, accounts: null, holdsLeases: true });
    expect((await make('harm', { damage: { loss: LOSS } })).hidesDevices).toBe(true);
    expect((await make('harm', { damage: { movedClock: true } })).hidesDevices).toBe(true);
  });

  test('what a shard says of its accounts and of the leases is kept', async () => {
    const damage = { loss: LOSS, accounts: ['a'], holdsLeases: false, servedFrom: 5 };
    expect(await make('harm', { damage })).toMatchObject(damage);
  });
});

test('a strict schedule has only kinds that the store knows', () => {
  const store = { harms: { failover: 0, 'cut-pubsub': 0, 'cut-normal': 0, flushall: 0 }, harmless: ['failover'] };
  const names = strictKinds(store as unknown as ChaosStore);
  expect(kindsOf(store as unknown as ChaosStore, names).map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  expect(names).not.toContain('flushall');
});

describe('repairs', () => {
  let admin: Server;
  let url: string;
  beforeEach(async () => {
    const said = [
      'gap_repairs_total{source="gap"} 5',
      'bus_rebuilds_total 2',
      'attach_rounds_total{cause="rebuilt"} 0',
    ];
    const text = [...said, 'streams 7'].map((line) => `baton_${line}\n`).join('');
    admin = createServer((_, answer) => answer.end(text)).listen(0);
    await new Promise((resolve) => admin.once('listening', resolve));
    url = `http://127.0.0.1:${(admin.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    admin.closeAllConnections();
    await new Promise((resolve) => admin.close(resolve));
  });

  test('are summed over replicas by cause, as far as each was last read', async () => {
    const repairs = new Repairs();
    for (const name of ['r1', 'r1', 'r2']) await repairs.read(name, url);
    await repairs.read('r2', 'http://127.0.0.1:1');
    expect(repairs.sums()).toEqual({ 'gap_repairs gap': 10, bus_rebuilds: 4 });
  });
});
