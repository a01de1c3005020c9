import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import type { Seen } from './account/account.ts';
import type { ScenarioRow } from './attacker/attacker.ts';
import type { ScenarioFigures } from './attacker/scenario.ts';
import { CAPS } from './caps.ts';
import { type History, judge, type PastPhase } from './judge.ts';
import { startWorker, type Worker } from './load/tasks.ts';
import { bytesByKind, watchMemory } from './measure/memory.ts';
import { processorTimeOf, shareOf } from './measure/processor.ts';
import { watchReplica } from './measure/replica-figures.ts';
import { watchCommands, watchSlowCommands } from './measure/slow-scripts.ts';
import { type Options, readOptions } from './options.ts';
import { type Phase, planPhases } from './phases.ts';
import { describeMachine, describePhase, type PhaseFigures } from './report.ts';
import { type Store, startStore } from './store.ts';

const PREFIX = 'neighbour';
/**
 * The pause after a scenario, before the next phase begins. By its end nothing of the scenario is under way any more.
 */
const SETTLE_MS = 1_000;
/**
 * The load yields the processor to what it attacks. The clients that measure times yield to nobody, because they stand
 * for other machines.
 */
const NICENESS = { attacker: 10, account: -5 };
/** The planted offender: the store counts to the first number, which takes some 40 ms, with this pause in between. */
const [COUNTED, BETWEEN_MS] = [16_000_000, 5];

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** It counts instead of watching the clock, because a wait of the store for a processor is nobody's fault. */
const BUSY = 'local n = 0 for i = 1, tonumber(ARGV[1]) do n = n + i end return 1';

/** Keeps the store busy again and again. */
async function holdUp({ primaries }: Store, forMs: number): Promise<void> {
  const until = performance.now() + forMs;
  while (performance.now() < until) {
    await Promise.all(primaries.map((redis) => redis.eval(BUSY, 0, COUNTED)));
    await wait(BETWEEN_MS);
  }
}

/** Starts a service that takes connections and says nothing. */
async function startSilentService(): Promise<{ port: number; stop: () => void }> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return { port: (server.address() as AddressInfo).port, stop: () => server.close() };
}

interface Site {
  store: Store;
  replicas: readonly ReplicaProcess[];
  attacker: Worker;
  account: Worker;
}

/** Runs one phase after the other, and measures what the machine does meanwhile. */
async function runPhases(site: Site, plan: readonly Phase[], scale: number, atEnd: () => Promise<void>) {
  const { store, replicas, attacker, account } = site;
  const whose = {
    store: store.pids,
    replicas: replicas.map(({ process: { pid } }) => pid as number),
    attacker: [attacker.pid],
    'other account': [account.pid],
    harness: [process.pid],
  };
  const timesOfAll = () => Object.entries(whose).map(([who, pids]) => [who, processorTimeOf(pids)] as const);
  const lookIntoReplicas = replicas.map(watchReplica);
  const slowCommands = await watchSlowCommands(store.primaries, scale);
  const commands = watchCommands(store.primaries);
  const names = plan.filter(({ kind }) => kind === 'alone').map(({ name }) => name);
  const act = async ({ kind, name, seconds }: Phase): Promise<Record<string, ScenarioFigures>> => {
    if (kind === 'alone') return attacker.ask('run', { names: [name], seconds });
    if (kind === 'together') return attacker.ask('run', { names, seconds });
    if (kind === 'planted') await holdUp(store, seconds * 1_000);
    else await wait(seconds * 1_000);
    return {};
  };
  const done: { phase: PastPhase; figures: PhaseFigures }[] = [];
  for (const phase of plan) {
    await Promise.all([slowCommands(), commands(), ...lookIntoReplicas.map((look) => look())]);
    const [before, from] = [new Map(timesOfAll()), Date.now()];
    const attacks = await act(phase);
    const to = Date.now();
    const shares = timesOfAll().map(([who, after]) => [who, shareOf(before.get(who) ?? after, after)]);
    const figures = {
      processor: Object.fromEntries(shares) as PhaseFigures['processor'],
      slow: await slowCommands(),
      commands: await commands(),
      replicas: await Promise.all(lookIntoReplicas.map((look) => look())),
    };
    await atEnd();
    process.stderr.write(`${phase.name}: done\n`);
    done.push({ phase: { ...phase, from, to, attacks }, figures });
    if (phase.kind !== 'baseline') await wait(SETTLE_MS);
  }
  return done;
}

/**
 * Returns an account name whose keys lie with those of the other account. In a cluster only accounts on the same
 * process are true neighbours.
 */
async function neighbourOf(store: Store, account: string): Promise<string> {
  const pid = await store.pidFor(account);
  for (;;) {
    const name = `neighbour-${randomBytes(4).toString('hex')}`;
    if ((await store.pidFor(name)) === pid) return name;
  }
}

/** Prints what was measured and which promises were kept. Sets the exit code. */
function printVerdict(history: History, note: string | null): void {
  const { passed, failed } = judge(history);
  for (const text of passed) say(`ok    ${text}`);
  for (const text of failed) say(`FAIL  ${text}`);
  if (note !== null) say(note);
  say(`${passed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function runOn(site: Site, options: Options, silentPort: number): Promise<void> {
  const { store, replicas, attacker, account } = site;
  const urls = replicas.map(({ url }) => url);
  const attackerName = `attacker-${randomBytes(4).toString('hex')}`;
  const otherName = await neighbourOf(store, attackerName);
  const memory = await watchMemory(store);
  const unlimited = options.scale === 0;
  const rows = await attacker.ask<ScenarioRow[]>('start', {
    ...{ account: attackerName, urls, silentPort, unlimited, only: options.only, pace: options.pace },
  });
  for (const { name, what } of rows) say(`${name}: ${what}`);
  const pids = [await store.pidFor(otherName), ...replicas.map(({ process: { pid } }) => pid)];
  await account.ask('start', { urls, account: otherName, pids });
  const plan = planPhases(
    options.seconds,
    rows.map(({ name }) => name),
  );
  const byKind: Record<string, number> = {};
  const done = await runPhases(site, plan, options.scale, async () => {
    for (const [kind, bytes] of Object.entries(await bytesByKind(store, PREFIX, attackerName))) {
      byKind[kind] = Math.max(byKind[kind] ?? 0, bytes);
    }
  });
  const seen = await account.ask<Seen>('stop');
  const history: History = {
    phases: done.map(({ phase }) => phase),
    ...{ samples: seen.samples, faults: seen.faults, caps: CAPS },
    works: Object.fromEntries(rows.map(({ name, works }) => [name, works])),
    memory: { ...(await memory()), byKind },
  };
  if (options.json !== null) writeFileSync(options.json, JSON.stringify({ options, history, done, seen }));
  for (const { phase, figures } of done) say(describePhase(history, phase, figures));
  say(`the other account saw ${JSON.stringify(seen.events)}, answers ${JSON.stringify(seen.statuses)}`);
  printVerdict(history, describeMachine(done));
}

/** Starts everything, attacks, and prints a verdict. Sets the exit code. */
export async function runNeighbour(argv: string[]): Promise<void> {
  let options: Options;
  try {
    options = readOptions(argv);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
    return;
  }
  const ends: (() => unknown)[] = [];
  const endAll = async () => {
    for (const end of ends.toReversed()) await end();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void endAll().finally(() => process.exit(1)));
  }
  try {
    const store = await startStore(options);
    ends.push(() => store.stop());
    const silent = await startSilentService();
    ends.push(silent.stop);
    const env = {
      ...{ APP_RATE_LIMIT_SCALE: String(options.scale), APP_PUSH_ENDPOINTS: `127.0.0.1:${silent.port}` },
      ...{ APP_LOG_LEVEL: 'error', APP_REDIS_MODE: options.mode },
    };
    const start = () => startReplica({ redisUrl: store.url, keyPrefix: PREFIX, env });
    ends.push(stopReplicas);
    const replicas = await Promise.all([start(), start()]);
    const [attacker, account] = await Promise.all([
      startWorker({ role: 'attacker', niceness: NICENESS.attacker }),
      startWorker({ role: 'account', niceness: NICENESS.account }),
    ]);
    ends.push(() => Promise.all([attacker.stop(), account.stop()]));
    await runOn({ store, replicas, attacker, account }, options, silent.port);
    for (const { log } of replicas) {
      for (const line of log().split('\n').filter(Boolean).slice(0, 5)) process.stderr.write(`${line.slice(0, 500)}\n`);
    }
  } finally {
    await endAll();
  }
}
