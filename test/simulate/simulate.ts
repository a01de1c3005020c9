import { writeFileSync } from 'node:fs';
import { makeRandom } from '../chaos/random.ts';
import { describeCounts, describeVerdict } from '../chaos/report.ts';
import { NUMBERS, type Options, readOptions } from './options.ts';
import { drawPlan, type Plan } from './plan.ts';
import { brokenOf, shrink } from './shrink.ts';
import { type Outcome, simulate } from './simulation.ts';
import { type StoreProcess, startStoreProcess } from './world/store-process.ts';

/** The most runs for shrinking. A plan that is not small by then is small enough to read. */
const MOST_SHRINKING_RUNS = 60;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function planOf(seed: string, { overrides, only }: Options): { drawn: Plan; plan: Plan } {
  const drawn = drawPlan(makeRandom(`plan/${seed}`));
  const faults = only === null ? drawn.faults : drawn.faults.filter((_, number) => only.includes(number));
  return { drawn, plan: { ...drawn, ...overrides, faults } };
}

/** Returns the command that makes this plan of a seed. */
function commandOf(seed: string, drawn: Plan, plan: Plan): string {
  const words = [`npm run test:simulate -- --seed ${seed}`];
  if (plan.faults.length < drawn.faults.length) {
    const kept = plan.faults.map((fault) => drawn.faults.indexOf(fault));
    words.push(`--only ${kept.join(',') || 'none'}`);
  }
  for (const name of NUMBERS) {
    if (plan[name] !== drawn[name]) words.push(`--${name} ${plan[name]}`);
  }
  return words.join(' ');
}

function firstDifference({ log: { lines: one } }: Outcome, { log: { lines: other } }: Outcome): string | null {
  const at = one.findIndex((line, i) => line !== other[i]);
  if (at === -1 && one.length === other.length) return null;
  const line = at === -1 ? Math.min(one.length, other.length) : at;
  return `the logs of two runs differ from line ${line + 1} on:\n  ${one[line]}\n  ${other[line]}`;
}

const describeSteps = (steps: Iterable<[string, number]>): string =>
  [...steps].map(([model, count]) => `${count} ${model}`).join(', ');

interface SeedRun {
  seed: string;
  options: Options;
  store: StoreProcess;
  /** The store of a second run, for comparison. The secrets of another process differ. */
  other: StoreProcess | null;
  /** How many steps were compared with each model, over all seeds. */
  compared: Map<string, number>;
}

/** Runs one seed and prints the result. Resolves to whether every promise was kept. */
async function runSeed({ seed, options, store, other, compared }: SeedRun): Promise<boolean> {
  const { drawn, plan } = planOf(seed, options);
  const run = (one: Plan, on = store) => simulate({ seed, plan: one, process: on });
  const began = performance.now();
  const outcome = await run(plan);
  const { log, history, steps, verdict } = outcome;
  const difference = other === null ? null : firstDifference(outcome, await run(plan, other));
  if (options.log !== null) writeFileSync(options.log, `${log.lines.join('\n')}\n`);
  const broken = brokenOf(verdict);
  const isOk = broken.length === 0 && difference === null;
  const took = `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  for (const [model, count] of Object.entries(steps)) compared.set(model, (compared.get(model) ?? 0) + count);
  const counts = `${log.lines.length} lines, steps: ${describeSteps(Object.entries(steps))}`;
  say(`${isOk ? 'ok  ' : 'FAIL'}  seed ${seed}: ${counts}, ${log.digest()}${other === null ? '' : ', twice'}, ${took}`);
  if (difference !== null) say(difference);
  if (isOk) return true;
  const faults = plan.faults.map(
    ({ kind, atMs, holdMs }) =>
      `${drawn.faults.findIndex((one) => one.atMs === atMs && one.kind === kind)} ${kind} at ${atMs} for ${holdMs} ms`,
  );
  say(
    [`faults: ${faults.join('; ') || 'none'}`, describeCounts(history), describeVerdict(verdict, history)].join('\n'),
  );
  say(`again: ${commandOf(seed, drawn, plan)}`);
  if (!options.shrink || broken.length === 0) return false;
  const stillFails = async (smaller: Plan) => {
    const found = brokenOf((await run(smaller)).verdict);
    return broken.some((promise) => found.includes(promise));
  };
  const smaller = await shrink(plan, stillFails, MOST_SHRINKING_RUNS);
  say(`smaller, after ${smaller.runs} runs: ${commandOf(seed, drawn, smaller.plan)}`);
  return false;
}

interface Run {
  argv: string[];
  redisServer: string;
}

/** Runs seeds, and prints the result of each. Sets the exit code. */
export async function runSimulations({ argv, redisServer }: Run): Promise<void> {
  let options: Options;
  let store: StoreProcess;
  try {
    options = readOptions(argv);
    store = await startStoreProcess(redisServer);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
    return;
  }
  const stores = [store];
  if (options.twice > 0) stores.push(await startStoreProcess(redisServer));
  const other = stores[1] ?? null;
  let passed = 0;
  const failed: string[] = [];
  const compared = new Map<string, number>();
  try {
    for (const [i, seed] of options.seeds.entries()) {
      const isOk = await runSeed({ seed, options, store, other: i < options.twice ? other : null, compared });
      if (isOk) passed += 1;
      else failed.push(seed);
      if (!isOk && options.stops) break;
    }
  } finally {
    await Promise.all(stores.map((one) => one.stop()));
  }
  // A checker that no longer finds any record would find nothing wrong.
  const unseen = [...compared].filter(([, count]) => count === 0).map(([model]) => model);
  const isBlind = options.isWhole && unseen.length > 0;
  say(`compared with models: ${describeSteps(compared)}`);
  if (isBlind) say(`no step was compared with ${unseen.join(', ')}`);
  if (failed.length > 0) say(`failed: ${failed.map((seed) => `--seed ${seed}`).join(', ')}`);
  say(`${passed} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 && !isBlind ? 0 : 1;
}
