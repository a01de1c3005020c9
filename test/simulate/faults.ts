import type { Connection, Fault } from '../chaos/history.ts';
import type { ChaosDevice } from '../chaos/load/chaos-device.ts';
import type { Load } from '../chaos/load/load.ts';
import { wait } from '../chaos/wait.ts';
import type { Fleet, Member } from './fleet.ts';
import type { FaultName, PlannedFault } from './plan.ts';
import { cutClients, holdClients } from './world/servers.ts';
import type { StoreAdapter } from './world/store-adapter.ts';
import type { World } from './world/world.ts';

/** The furthest that a clock is set. */
const CLOCK_MS = 120_000;

/** The time between two lost replies. */
const REPLY_EVERY_MS = 300;

interface Damage {
  replica: string | null;
  target?: string;
  movedClock?: boolean;
  /** A replica that lives may have been taken for dead. */
  hidesDevices?: boolean;
  /** What went wrong with the fault itself. */
  broken?: string | null;
}

type Deed = (fault: PlannedFault, member: Member) => Promise<Damage>;

const isAt = ({ history }: ChaosDevice, { name }: Member): boolean => history.connections.at(-1)?.replica === name;

interface FaultsParts {
  world: World;
  load: Load;
  fleet: Fleet;
  store: StoreAdapter;
}

/** Ends the store while nothing else happens. */
const stopStore = (world: World, store: StoreAdapter): Promise<void> =>
  new Promise((resolve) => {
    world.after(1, world.driver, () => world.wait(() => store.die().then(resolve)));
  });

/** Returns the deed for each kind. `isAlone` tells whether nothing else was ever done to the replica. */
function makeDeeds(
  { world, fleet, store, load }: FaultsParts,
  isAlone: (member: Member) => boolean,
): Record<FaultName, Deed> {
  const pause: Deed = async ({ kind, holdMs }, member) => {
    fleet.pause(member, holdMs);
    await wait(holdMs);
    return { replica: member.name, hidesDevices: kind === 'pause-long' };
  };
  const cutNow = (hit: number, { name }: Member): Damage => ({ replica: name, target: `${name}, ${hit} cut` });
  return {
    async kill({ holdMs, variant }, member) {
      const lids = load.devices.filter((device) => device.isOpen && isAt(device, member)).slice(0, 1);
      // If a device leaves just then, only the dead replica knows it.
      const leaving = variant < 0.5 ? lids.map((device) => device.leave()) : [];
      fleet.kill(member);
      await Promise.all(leaving);
      await wait(holdMs);
      await fleet.start();
      return { replica: member.name };
    },
    stall: pause,
    'pause-long': pause,
    async drain(_, member) {
      const open = load.devices.flatMap((device) => {
        const connection = device.history.connections.at(-1);
        return device.isOpen && isAt(device, member) && connection !== undefined ? [connection] : [];
      });
      const broken = await fleet.drain(member);
      // A stream that the client or another fault ended needs no word.
      const isUntold = ({ cause }: Connection) => cause === 'ended' || cause === 'network';
      const untold = member.state === 'gone' && isAlone(member) ? open.filter(isUntold).length : 0;
      const says = untold === 0 ? null : `${untold} streams were ended without a word`;
      return { replica: member.name, broken: broken ?? says };
    },
    async 'lost-pushes'({ holdMs, variant }, { name, owner }) {
      const losesBefore = store.losesPush;
      store.losesPush = (replica) =>
        (replica === owner && world.random.next() < 0.2 + 0.6 * variant) || losesBefore(replica);
      await wait(holdMs);
      store.losesPush = losesBefore;
      return { replica: name };
    },
    async 'lost-replies'({ holdMs }, { name, owner }) {
      for (let leftMs = holdMs; leftMs >= 0; leftMs -= REPLY_EVERY_MS) {
        store.loseReply(owner);
        await wait(REPLY_EVERY_MS);
      }
      return { replica: name };
    },
    'cut-store': (_, member) => Promise.resolve(cutNow(store.cut(member.owner), member)),
    'cut-subscriber': (_, member) =>
      Promise.resolve(
        cutNow(
          store.cut(member.owner, ({ isSubscriber }) => isSubscriber),
          member,
        ),
      ),
    async 'cut-clients'({ holdMs, variant }, member) {
      let hit = 0;
      for (let leftMs = holdMs; leftMs >= 0; leftMs -= REPLY_EVERY_MS) {
        hit += cutClients(world, member.owner, () => world.random.next() < variant);
        await wait(REPLY_EVERY_MS);
      }
      return cutNow(hit, member);
    },
    async 'slow-readers'({ holdMs, variant }, { name, owner }) {
      const { hit, release } = holdClients(world, owner, () => world.random.next() < 0.3 + 0.7 * variant);
      await wait(holdMs);
      release();
      return { replica: name, target: `${name}, ${hit} slow` };
    },
    async 'store-clock'({ variant }) {
      store.skewMs = Math.round((variant - 0.5) * 2 * CLOCK_MS);
      await Promise.resolve();
      return { replica: null, target: `clock ${store.skewMs} ms`, movedClock: true, hidesDevices: true };
    },
    // The store writes to the disk before it answers, so that a restart loses nothing.
    async 'store-restart'({ holdMs }) {
      await stopStore(world, store);
      await wait(holdMs);
      store.rise();
      return { replica: null, target: 'the store' };
    },
    async 'replica-clock'({ holdMs, variant }, { name, owner }) {
      owner.skewMs = Math.round((variant - 0.5) * 2 * CLOCK_MS);
      await wait(holdMs);
      owner.skewMs = 0;
      return { replica: name };
    },
  };
}

/** Returns the function that makes one planned fault happen, and resolves when its cause is gone. */
export function makeFaults(parts: FaultsParts): (fault: PlannedFault) => Promise<Fault> {
  const { world, fleet } = parts;
  /** How often each replica was chosen. */
  const chosen = new Map<Member, number>();
  const deeds = makeDeeds(parts, (member) => chosen.get(member) === 1);
  return async (fault) => {
    const { kind, target } = fault;
    const there = fleet.up.length > 0 ? fleet.up : fleet.members;
    const member = there[Math.floor(target * there.length)] as Member;
    chosen.set(member, (chosen.get(member) ?? 0) + 1);
    const startedAt = world.nowMs;
    world.note('fault', kind, member.name);
    const damage = await deeds[kind](fault, member);
    world.note('fault over', kind, member.name);
    return {
      ...{ kind, target: member.name, accounts: null, holdsLeases: true, loss: null, broken: null },
      ...{ movedClock: false, hidesDevices: false, ...damage },
      ...{ startedAt, endedAt: world.nowMs },
    };
  };
}
