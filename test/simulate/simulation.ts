import { check } from '../chaos/checker/check.ts';
import type { Violation } from '../chaos/checker/violation.ts';
import { makeCheckpoints } from '../chaos/checkpoint.ts';
import { emptyHistory, type History } from '../chaos/history.ts';
import { HEARTBEAT_MS } from '../chaos/load/chaos-device.ts';
import { Load } from '../chaos/load/load.ts';
import type { Random } from '../chaos/random.ts';
import { wait } from '../chaos/wait.ts';
import { makeFaults } from './faults.ts';
import { dropRandomPool, Fleet } from './fleet.ts';
import type { Plan } from './plan.ts';
import { LoginLoad } from './login-load.ts';
import { RelayInvariants } from './relay-invariants.ts';
import { RelayLoad } from './relay-load.ts';
import { RelayTroubles } from './relay-troubles.ts';
import { RingLoad } from './ring-load.ts';
import { SignalLoad } from './signal-load.ts';
import { SilentLoad } from './silent-load.ts';
import { type Conformance, countsOf, makeConformance, verdictOf } from './steps/conformance.ts';
import { TransferLoad } from './transfer-load.ts';
import { EventLog } from './world/event-log.ts';
import { StoreAdapter } from './world/store-adapter.ts';
import { placeStore } from './world/store-socket.ts';
import type { StoreProcess } from './world/store-process.ts';
import { World } from './world/world.ts';

/** A simulation that has not ended by then never does. */
const MOST_MS = 300_000;

/** The sweep finds a lost announcement at the latest, so it should come soon. */
const SETTINGS = {
  APP_HUB_HEARTBEAT_MS: String(HEARTBEAT_MS),
  APP_HUB_SWEEP_SECONDS: '8',
  APP_CLIPBOARD_TTL_SECONDS: '20',
  // The window is smaller than a file, so that senders and receivers wait for each other.
  APP_RELAY_WINDOW_BYTES: String(256 * 1_024),
};

/** Accounts in which the announcement of one message is lost. */
const SILENCES = 1;

// Judges G19.
const RELAYED = 'a relayed file arrives whole';
const BYTES = 'the bytes of the relay are as in its model';
// Judges G11.
const ONE_POLL = 'one poll has the session of a login request';
const SIGNALS = 'signals of a transfer come to its other party alone, once and in order';
// Judges G1.
const SILENT = 'what was announced to nobody is found';

export interface Outcome {
  readonly log: EventLog;
  readonly history: History;
  /** How many steps were compared with each model. */
  readonly steps: Record<keyof Conformance, number>;
  /** Each promise with the times that it was not kept. */
  readonly verdict: Record<string, Violation[]>;
}

interface Parts {
  seed: string;
  plan: Plan;
  process: StoreProcess;
}

interface Scene {
  world: World;
  store: StoreAdapter;
  plan: Plan;
  history: History;
  relayed: Violation[];
  silent: Violation[];
  shared: Violation[];
  signalled: Violation[];
}

/** Does something this many times, each time at a drawn moment. */
async function spread(
  count: number,
  { seconds }: Plan,
  random: Random,
  each: (number: number) => Promise<void>,
): Promise<void> {
  const one = async (number: number): Promise<void> => {
    await wait(random.between(0, seconds * 1_000));
    await each(number);
  };
  await Promise.all(Array.from({ length: count }, (_, number) => one(number)));
}

async function act({ world, store, plan, history, relayed, silent, shared, signalled }: Scene): Promise<void> {
  dropRandomPool();
  const { random } = world;
  const now = () => world.nowMs;
  const fleet = new Fleet({ world, store, random: random.fork('balancer'), settings: SETTINGS });
  for (let i = 0; i < plan.replicas; i += 1) await fleet.start();
  const load = new Load({ fleet, history, options: plan, random, now });
  const fault = makeFaults({ world, fleet, store, load });
  const take = makeCheckpoints({
    ...{ load, fleet, now },
    peek: () => Promise.resolve(''),
    say: (text) => world.note(text),
  });
  const troubles = new RelayTroubles({ world, store });
  const relays = new RelayLoad({ fleet, random: random.fork('relays'), now, troubles, violations: relayed });
  await load.begin();
  load.start();
  const relaying = spread(plan.files, plan, random.fork('files'), (number) => relays.relay(number));
  const transfers = new TransferLoad({ fleet, random: random.fork('steps') });
  const stepping = spread(plan.transfers, plan, random.fork('transfers'), (number) => transfers.transfer(number));
  const rings = new RingLoad({ fleet, random: random.fork('ring') });
  const putting = spread(plan.rings, plan, random.fork('rings'), (number) => rings.put(number));
  const logins = new LoginLoad({ world, fleet, random: random.fork('login'), now, violations: shared });
  const signing = spread(plan.logins, plan, random.fork('logins'), (number) => logins.logIn(number));
  const signals = new SignalLoad({
    ...{ fleet, random: random.fork('signal'), now, violations: signalled },
    skewMs: () => store.skewMs,
  });
  const passing = spread(plan.signals, plan, random.fork('signals'), (number) => signals.pass(number));
  const silences = new SilentLoad({ fleet, store, random: random.fork('silence'), now, violations: silent });
  const silence = spread(SILENCES, plan, random.fork('silences'), (number) => silences.say(number));
  const faults = plan.faults.map(async (planned) => {
    await wait(planned.atMs);
    history.faults.push(await fault(planned));
  });
  await Promise.all([...faults, wait(plan.seconds * 1_000)]);
  if (plan.recalls) load.recall();
  history.checkpoints.push(await take(1));
  await Promise.all([load.stop(), relaying, stepping, putting, signing, passing, silence]);
  await Promise.all(load.devices.map((device) => device.leave()));
}

/** Runs one seed. Its log is the same for the same seed, plan and commit. */
export async function simulate({ seed, plan, process: storeProcess }: Parts): Promise<Outcome> {
  const log = new EventLog();
  const world = new World(seed, log);
  const history = emptyHistory();
  const relayed: Violation[] = [];
  const silent: Violation[] = [];
  const shared: Violation[] = [];
  const signalled: Violation[] = [];
  const store = new StoreAdapter(world, storeProcess);
  placeStore(world, store);
  const asking = { ask: (...words: string[]) => store.ask(...words), now: () => world.nowMs };
  const [conformance, bytes] = [makeConformance(asking), new RelayInvariants(asking)];
  store.onCommand = async (words, reply, connection) => {
    for (const steps of Object.values(conformance)) await steps.note(words, reply, connection);
    await bytes.note(words, reply);
  };
  await store.begin();
  const onError = (error: unknown): void => {
    const broken = error instanceof Error ? String(error.stack) : String(error);
    const at = { startedAt: world.nowMs, endedAt: world.nowMs, loss: null, movedClock: false, hidesDevices: false };
    history.faults.push({ kind: 'crash', target: 'a replica', replica: null, accounts: null, ...at, broken });
  };
  process.on('uncaughtException', onError);
  try {
    await world.run(() => act({ world, store, plan, history, relayed, silent, shared, signalled }), MOST_MS);
  } catch (error) {
    onError(error);
  } finally {
    process.off('uncaughtException', onError);
    await store.end();
  }
  return {
    log,
    history,
    steps: countsOf(conformance),
    verdict: {
      ...check(history),
      ...{ [RELAYED]: relayed, [BYTES]: bytes.violations, [SILENT]: silent, [ONE_POLL]: shared, [SIGNALS]: signalled },
      ...verdictOf(conformance),
    },
  };
}
