import type { Fleet, Member } from '../fleet.ts';
import type { Fault } from '../history.ts';
import type { Direction, Proxy } from './proxy.ts';
import type { FaultKind, PlannedFault } from './schedule.ts';
import { makeRandom } from '../random.ts';
import { mayReplacePrimary } from '../stores/primaries.ts';
import type { ChaosStore, StoreDamage } from '../stores/store.ts';
import type { Takeovers } from '../stores/takeovers.ts';
import { wait } from '../wait.ts';

/** The kinds and how long they hold. A lease is 6 s, so a pause is either shorter or longer than that. */
const REPLICA_KINDS: FaultKind[] = [
  { name: 'kill', track: 'replicas', holdMs: [0, 5_000], overheadMs: 1_500 },
  { name: 'stall', track: 'replicas', holdMs: [1_000, 3_000], overheadMs: 0 },
  { name: 'pause-short', track: 'replicas', holdMs: [3_000, 3_800], overheadMs: 0 },
  { name: 'pause-long', track: 'replicas', holdMs: [7_500, 13_000], overheadMs: 0 },
  { name: 'drain', track: 'replicas', holdMs: [0, 0], overheadMs: 13_000 },
  { name: 'rolling-restart', track: 'replicas', holdMs: [0, 0], overheadMs: 18_000 },
];

const PROXY_KINDS: FaultKind[] = [
  { name: 'hole-to-replica', track: 'store', holdMs: [4_000, 12_000], overheadMs: 0 },
  { name: 'hole-to-store', track: 'store', holdMs: [4_000, 12_000], overheadMs: 0 },
  { name: 'latency', track: 'store', holdMs: [3_000, 8_000], overheadMs: 0 },
  { name: 'cut-mid-frame', track: 'store', holdMs: [1_000, 4_000], overheadMs: 0 },
];

const HARM_HOLDS: Record<string, readonly [number, number]> = {
  'redis-kill': [100, 6_000],
  'redis-wipe': [100, 4_000],
  'redis-lost-tail': [100, 2_000],
  'redis-pause': [500, 8_000],
  'redis-clock': [100, 2_000],
  'primary-kill': [0, 2_000],
  'primary-pause': [0, 2_000],
  'primary-restart': [0, 300],
  'primary-wipe': [0, 300],
  'primary-clock': [0, 300],
  'cut-pubsub': [0, 3_000],
  'cut-normal': [0, 3_000],
};

/**
 * Kinds whose pauses are too short to cost a replica its lease. A hole may cost it, and then hides the devices of its
 * replica.
 */
const STRICT = [
  ...['kill', 'stall', 'pause-short', 'drain', 'rolling-restart'],
  ...['hole-to-replica', 'hole-to-store', 'latency', 'cut-mid-frame', 'cut-pubsub', 'cut-normal'],
];

/** Kinds after which this store has everything that it had. No loss and no set clock excuses anything. */
export const strictKinds = ({ harmless }: ChaosStore): string[] => [...STRICT, ...harmless];

/** Returns every kind that can be done to this store. */
export function kindsOf(store: ChaosStore, only: string[]): FaultKind[] {
  const harms = Object.keys(store.harms).map(
    (name): FaultKind => ({
      ...{ name, track: 'store', overheadMs: 500 },
      holdMs: HARM_HOLDS[name] ?? [0, 0],
    }),
  );
  const all = [...REPLICA_KINDS, ...PROXY_KINDS, ...harms];
  const unknown = only.filter((name) => !all.some((kind) => kind.name === name));
  if (unknown.length > 0)
    throw new Error(`No such faults: ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`);
  return only.length === 0 ? all : all.filter(({ name }) => only.includes(name));
}

type Damage = StoreDamage & {
  replica: string | null;
  broken: string | null;
  /** A replica that lives may have been taken for dead. */
  costsLease: boolean;
};
type Deed = (fault: PlannedFault) => Promise<Damage>;

const harmless = (
  member: Member | null,
  { target = member?.name ?? 'all', broken = null as string | null, costsLease = false } = {},
): Damage => ({
  target,
  broken,
  costsLease,
  replica: member?.name ?? null,
  loss: null,
  movedClock: false,
});

/**
 * Half of the faults on the way to the store concern all of its nodes. The other half concern one node that gets
 * traffic.
 */
function harmed({ variant, target }: PlannedFault, { door: { proxies } }: Member): readonly Proxy[] {
  const used = proxies.filter(({ lines }) => lines > 0);
  if ((variant * 8) % 2 < 1 || used.length === 0) return proxies;
  // This uses other digits than those that choose the replica.
  return used.slice(Math.floor(((target * 97) % 1) * used.length)).slice(0, 1);
}

const nameOf = (member: Member, nodes: readonly Proxy[]): string =>
  `${member.name} to ${nodes.length} of ${member.door.proxies.length} nodes`;

/** Returns the deed for each kind, except the store's own kinds. */
function makeDeeds(fleet: Fleet): Record<string, Deed> {
  const targetOf = ({ target }: PlannedFault): Member => {
    const up = fleet.up;
    return up[Math.floor(target * up.length)] as Member;
  };
  const pause =
    ({ costsLease = false } = {}): Deed =>
    async (fault) => {
      const member = targetOf(fault);
      await fleet.pause(member, fault.holdMs);
      return harmless(member, { costsLease });
    };
  const hole =
    (direction: Direction): Deed =>
    async (fault) => {
      const member = targetOf(fault);
      // There are four variants: new connections work meanwhile or not, and in the end the held ones flow on or are
      // cut.
      const newOnesToo = fault.variant < 0.5;
      const nodes = harmed(fault, member);
      // If the way to the leases cannot be asked for just now, the fault may be on it.
      const leaseWay = await member.door.leaseWay().catch(() => null);
      const ends = nodes.map((proxy) => proxy.hold(direction, { newOnesToo }));
      await wait(fault.holdMs);
      for (const end of ends) end((fault.variant * 4) % 2 < 1 ? 'release' : 'cut');
      return harmless(member, {
        target: `${nameOf(member, nodes)}${newOnesToo ? '' : ', old connections'}`,
        costsLease: leaseWay === null || nodes.includes(leaseWay),
      });
    };
  return {
    kill: async (fault) => {
      const member = targetOf(fault);
      await fleet.replaceKilled(member, fault.holdMs);
      return harmless(member);
    },
    ...{ stall: pause(), 'pause-short': pause(), 'pause-long': pause({ costsLease: true }) },
    drain: async (fault) => {
      const member = targetOf(fault);
      return harmless(member, { broken: await fleet.drain(member) });
    },
    'rolling-restart': async () => harmless(null, { broken: await fleet.rollOver() }),
    'hole-to-replica': hole('to replica'),
    'hole-to-store': hole('to store'),
    latency: async (fault) => {
      const member = targetOf(fault);
      const delayMs = Math.round(20 + fault.variant ** 2 * 500);
      const nodes = harmed(fault, member);
      for (const proxy of nodes) proxy.delay(delayMs);
      await wait(fault.holdMs);
      for (const proxy of nodes) proxy.delay(0);
      return harmless(member, { target: `${nameOf(member, nodes)}, ${delayMs} ms each way` });
    },
    'cut-mid-frame': async (fault) => {
      const member = targetOf(fault);
      const nodes = harmed(fault, member);
      const random = makeRandom(String(fault.variant));
      let cuts = 0;
      for (let leftMs = fault.holdMs; leftMs > 0; leftMs -= 400) {
        for (const proxy of nodes) cuts += proxy.cutAfter(1 + Math.floor(random.next() * 3_000));
        await wait(400);
      }
      for (const proxy of nodes) cuts += proxy.cutAfter(null);
      return harmless(member, { target: `${nameOf(member, nodes)}, ${cuts} cut` });
    },
  };
}

interface FaultsParts {
  fleet: Fleet;
  store: ChaosStore;
  takeovers: Takeovers;
  now: () => number;
  say: (text: string) => void;
}

/** Gives the function that makes one planned fault happen and resolves when its cause is gone. */
export function makeFaults({
  fleet,
  store,
  takeovers,
  now,
  say,
}: FaultsParts): (fault: PlannedFault) => Promise<Fault> {
  const deeds = makeDeeds(fleet);
  return async (fault) => {
    const { kind, holdMs, variant } = fault;
    const startedAt = now();
    const isOver = mayReplacePrimary(kind) ? takeovers.expect() : () => undefined;
    const harm = store.harms[kind];
    const deed = deeds[kind];
    const doIt = harm
      ? async (): Promise<Damage> => ({ ...harmless(null), ...(await harm({ holdMs, variant, now })) })
      : () => (deed as Deed)(fault);
    // The run goes on whatever the fault did or failed to do, and reports it.
    const damage = await doIt().catch((error: unknown): Damage => {
      const broken = error instanceof Error ? error.message : String(error);
      return { ...harmless(null, { target: '?', broken }), loss: { since: null, times: 2 }, movedClock: true };
    });
    const endedAt = now();
    isOver();
    say(
      `${kind} of ${damage.target}, ${Math.round(startedAt)} to ${Math.round(endedAt)}${damage.broken ? `: BROKEN, ${damage.broken}` : ''}`,
    );
    const { accounts = null, holdsLeases = true, costsLease, ...done } = damage;
    // A store that forgot that a device came says so until the device's replica has told it again. By another clock a
    // grace ends at once, or later, and a row is old.
    const hidesDevices = done.loss !== null || done.movedClock || costsLease;
    return { kind, ...done, accounts, holdsLeases, startedAt, endedAt, hidesDevices };
  };
}
