import { check } from '../chaos/checker/check.ts';
import type { Violation } from '../chaos/checker/violation.ts';
import { makeCheckpoints } from '../chaos/checkpoint.ts';
import { emptyHistory, type History } from '../chaos/history.ts';
import { HEARTBEAT_MS } from '../chaos/load/chaos-device.ts';
import { Load } from '../chaos/load/load.ts';
import { wait } from '../chaos/wait.ts';
import { makeFaults } from './faults.ts';
import { dropRandomPool, Fleet } from './fleet.ts';
import type { Plan } from './plan.ts';
import { EventLog } from './world/event-log.ts';
import { StoreAdapter } from './world/store-adapter.ts';
import { placeStore } from './world/store-socket.ts';
import type { StoreProcess } from './world/store-process.ts';
import { World } from './world/world.ts';

/** A simulation that has not ended by then never does. */
const MOST_MS = 300_000;

/** A lost announcement is found by the sweep at the latest: let that be soon. */
const SETTINGS = {
  APP_HUB_HEARTBEAT_MS: String(HEARTBEAT_MS),
  APP_HUB_SWEEP_SECONDS: '8',
  APP_CLIPBOARD_TTL_SECONDS: '20',
};

export interface Outcome {
  readonly log: EventLog;
  readonly history: History;
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
}

async function act({ world, store, plan, history }: Scene): Promise<void> {
  dropRandomPool();
  const { random } = world;
  const now = () => world.nowMs;
  const fleet = new Fleet({ world, store, random: random.fork('balancer'), settings: SETTINGS });
  for (let i = 0; i < plan.replicas; i += 1) await fleet.start();
  const load = new Load({ fleet, history, options: plan, random, now });
  const fault = makeFaults({ world, fleet, store });
  const take = makeCheckpoints({
    ...{ load, fleet, now },
    peek: () => Promise.resolve(''),
    say: (text) => world.note(text),
  });
  await load.begin();
  load.start();
  const faults = plan.faults.map(async (planned) => {
    await wait(planned.atMs);
    history.faults.push(await fault(planned));
  });
  await Promise.all([...faults, wait(plan.seconds * 1_000)]);
  load.recall();
  history.checkpoints.push(await take(1));
  await load.stop();
}

/** Runs one seed. Its log is the same for the same seed, plan and commit. */
export async function simulate({ seed, plan, process: storeProcess }: Parts): Promise<Outcome> {
  const log = new EventLog();
  const world = new World(seed, log);
  const history = emptyHistory();
  const store = new StoreAdapter(world, storeProcess);
  placeStore(world, store);
  await store.begin();
  const onError = (error: unknown): void => {
    const broken = error instanceof Error ? String(error.stack) : String(error);
    const at = { startedAt: world.nowMs, endedAt: world.nowMs, loss: null, movedClock: false, hidesDevices: false };
    history.faults.push({ kind: 'crash', target: 'a replica', replica: null, accounts: null, ...at, broken });
  };
  process.on('uncaughtException', onError);
  try {
    await world.run(() => act({ world, store, plan, history }), MOST_MS);
  } catch (error) {
    onError(error);
  } finally {
    process.off('uncaughtException', onError);
    await store.end();
  }
  return { log, history, verdict: check(history) };
}
