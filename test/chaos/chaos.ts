import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { startBroker } from './broker.ts';
import { check } from './checker/check.ts';
import { makeCheckpoints } from './checkpoint.ts';
import { kindsOf, makeFaults, strictKinds } from './faults/faults.ts';
import { Fleet } from './fleet.ts';
import { emptyHistory, type History } from './history.ts';
import { HEARTBEAT_MS } from './load/chaos-device.ts';
import { Load } from './load/load.ts';
import { LOGIN_SECONDS } from './load/logins.ts';
import { OBJECT_ACCOUNTS, ObjectLoad, SERVICE } from './load/objects.ts';
import { judgeOperations, requireGo } from './linear.ts';
import { type ObjectOperation, toLines } from './operations.ts';
import { accountNames, type Options, readOptions } from './options.ts';
import { makeRandom, type Random } from './random.ts';
import { describeCounts, describeVerdict } from './report.ts';
import { describePlan, type PlannedFault, planFaults } from './faults/schedule.ts';
import { watchStalls } from './stalls.ts';
import { startCluster } from './stores/cluster.ts';
import { startSentinel } from './stores/sentinel.ts';
import { startStandalone } from './stores/standalone.ts';
import type { ChaosStore, StoreOptions } from './stores/store.ts';
import { Takeovers } from './stores/takeovers.ts';
import { wait } from './wait.ts';

/** The settings of an operator, with shorter periods, so that a run of minutes shows what otherwise takes a day. */
const REPLICA_ENV = {
  APP_HUB_HEARTBEAT_MS: String(HEARTBEAT_MS),
  APP_DRAIN_SECONDS: '2',
  APP_CLIPBOARD_TTL_SECONDS: '20',
  APP_QR_REQUEST_TTL_SECONDS: String(LOGIN_SECONDS),
  APP_SERVICE_ID: SERVICE,
};

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Every store writes each command to disk before it answers, so the disk should be memory. */
const MEMORY_DISK = '/dev/shm';
if (existsSync(MEMORY_DISK)) process.env.TMPDIR = MEMORY_DISK;

const SHOWN_ERRORS = 10;

/** How often a quiet moment is tried after the store failed over by itself. The last attempt counts as it is. */
const ATTEMPTS_AT_QUIET = 3;

/** Returns the file of a history's operations, which lies beside the history. */
const linesOf = (file: string): string => `${file}.operations.jsonl`;

interface Run {
  argv: string[];
  redisServer: string;
}

/** Half of the seeds rotate streams all the time. The others hardly ever do, so that a silent stream stays silent. */
const rotateSeconds = (random: Random): string => (random.fork('rotation').next() < 0.5 ? '45' : '900');

const STORES: Record<Options['mode'], (parts: StoreOptions) => Promise<ChaosStore>> = {
  standalone: startStandalone,
  sentinel: startSentinel,
  cluster: startCluster,
};

async function runFaults(track: PlannedFault[], fault: ReturnType<typeof makeFaults>, history: History): Promise<void> {
  for (const planned of track) {
    await wait(planned.afterMs);
    history.faults.push(await fault(planned));
  }
}

interface CheckpointsParts {
  take: ReturnType<typeof makeCheckpoints>;
  takeovers: Takeovers;
  history: History;
}

async function takeCheckpoint({ take, takeovers, history }: CheckpointsParts, number: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await takeovers.settled();
    const { seen } = takeovers;
    const checkpoint = await take(number);
    if (takeovers.seen > seen && attempt < ATTEMPTS_AT_QUIET) {
      say(`checkpoint ${number} was not quiet, the store failed over: once more`);
      continue;
    }
    history.checkpoints.push(checkpoint);
    return;
  }
}

interface RunParts {
  store: ChaosStore;
  options: Options;
  history: History;
  operations: ObjectOperation[];
}

async function runOn({ store, options, history, operations }: RunParts): Promise<void> {
  const random = makeRandom(options.seed);
  const only = options.strict ? strictKinds(store) : options.only;
  const kinds = kindsOf(store, only);
  const segments = planFaults({ kinds, minutes: options.minutes, random });
  const rotate = rotateSeconds(random);
  process.stdout.write(
    `seed ${options.seed}, mode ${options.mode}, streams live ${rotate} s\n${describePlan(segments)}\n`,
  );
  for (const [kind, reason] of Object.entries(store.skipped)) process.stdout.write(`skipped ${kind}: ${reason}\n`);
  if (options.plan) return;
  history.plan = {
    minutes: options.minutes,
    kinds: kinds.map(({ name }) => name),
    isPart: only.length > 0,
    skipped: Object.keys(store.skipped),
  };

  const began = performance.now();
  const now = () => performance.now() - began;
  const onCrash = (name: string, broken: string): void => {
    const at = { startedAt: now(), endedAt: now(), loss: null, movedClock: false, hidesDevices: true };
    history.faults.push({ kind: 'crash', target: name, replica: name, accounts: null, ...at, broken });
    say(`${name} ${broken.slice(0, 200)}`);
  };
  // Only a history has login requests, and they need a broker.
  const broker = options.history === null ? null : await startBroker();
  const env = { ...REPLICA_ENV, ...broker?.env, APP_HUB_ROTATE_SECONDS: rotate };
  const fleet = new Fleet({ store, env, random: random.fork('balancer'), onCrash });
  process.once('exit', () => {
    for (const { process: replica } of fleet.members) replica.process.kill('SIGKILL');
  });
  await Promise.all(Array.from({ length: options.replicas }, () => fleet.start()));
  const load = new Load({ fleet, history, options, random, now });
  const takeovers = new Takeovers({ replicated: store.replicated, faults: history.faults, now, say });
  await takeovers.start();
  const fault = makeFaults({ fleet, store, takeovers, now, say });
  const take = makeCheckpoints({ load, fleet, now, say, peek: store.peek });
  const checkpoints = { take, takeovers, history };
  const stopWatching = watchStalls({ stalls: history.stalls, now });
  const objects = new ObjectLoad({ fleet, operations, random: random.fork('objects'), now });
  await load.begin();
  load.start();
  if (options.history !== null) objects.start();
  for (const [index, segment] of segments.entries()) {
    await Promise.all([runFaults(segment.replicas, fault, history), runFaults(segment.store, fault, history)]);
    await takeCheckpoint(checkpoints, index + 1);
    await fleet.readRepairs();
    load.allowAbsence();
  }
  // Devices that are away come back, because what is pending for them must reach them too.
  load.recall();
  await takeCheckpoint(checkpoints, segments.length + 1);
  await Promise.all([load.stop(), objects.stop()]);
  await Promise.all(load.devices.map((device) => device.leave()));
  await takeovers.settled();
  takeovers.stop();
  stopWatching();
  await fleet.readRepairs();
  history.repairs = fleet.repairs.sums();
  const errors = fleet.errors();
  for (const line of errors.slice(0, SHOWN_ERRORS)) say(line.slice(0, 2_000));
  say(`${errors.length} errors logged by replicas`);
  await fleet.stop();
  await broker?.stop();
}

/**
 * Prints what happened and which promises were kept. If there is a file of operations, judges it too. Sets the exit
 * code.
 */
function judge(history: History, operations: string | null): void {
  const verdict = check(history);
  process.stdout.write(`${describeCounts(history)}\n${describeVerdict(verdict, history)}\n`);
  const broken = Object.values(verdict).filter(({ length }) => length > 0).length;
  process.exitCode = broken > 0 ? 1 : 0;
  if (operations === null) return;
  const { passed, failed } = judgeOperations(operations);
  process.stdout.write(`${Object.keys(verdict).length - broken + passed} passed, ${broken + failed} failed\n`);
  if (failed > 0) process.exitCode = 1;
}

/** Runs a schedule, or reads the history of an earlier run, and prints the verdict. Sets the exit code. */
export async function runChaos({ argv, redisServer }: Run): Promise<void> {
  let options: Options;
  try {
    options = readOptions(argv, randomBytes(4).toString('hex'));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
    return;
  }
  if (options.check !== null) {
    const operations = linesOf(options.check);
    judge(JSON.parse(readFileSync(options.check, 'utf8')) as History, existsSync(operations) ? operations : null);
    return;
  }
  if (options.history !== null && !options.plan) requireGo();
  const accounts = [...accountNames(options), ...OBJECT_ACCOUNTS];
  const store = await STORES[options.mode]({ redisServer, accounts });
  // Everything that the driver started ends with it, however it ends.
  const endNow = (code: number) => void store.stop().finally(() => process.exit(code));
  process.once('SIGINT', () => endNow(130));
  process.once('SIGTERM', () => endNow(143));
  process.once('uncaughtException', (error) => {
    say(String(error.stack));
    endNow(1);
  });
  const history = emptyHistory();
  const operations: ObjectOperation[] = [];
  try {
    await runOn({ store, options, history, operations });
  } finally {
    if (options.history !== null) {
      writeFileSync(options.history, JSON.stringify(history));
      writeFileSync(linesOf(options.history), toLines(operations, history.faults));
    }
    await store.stop();
  }
  if (!options.plan) judge(history, options.history === null ? null : linesOf(options.history));
}
