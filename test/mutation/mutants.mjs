import { createHash } from 'node:crypto';
import { makeLane } from './lane.mjs';
import { mutantsOfLua, reachedInLua } from './lua.mjs';
import { testsOf } from './scope.mjs';
import { describeMutant, explainedMutants } from './score.mjs';
import { mutantsOfTypeScript } from './typescript.mjs';

/** A mutant gets this many times the time that the tests take without one, plus a minute. */
const PATIENCE = 4;
const GRACE_MS = 60_000;

const EXPLAINED = explainedMutants();

const changed = (text, { start, end, to }) => text.slice(0, start) + to + text.slice(end);

/** Returns the mutants of a file with their result: 'explained', or 'not run' at first. */
export function mutantsOfFile(file, original) {
  const isLua = file.endsWith('.lua');
  const found = isLua ? mutantsOfLua(original) : mutantsOfTypeScript(original);
  return found.map((mutant) => {
    const { line, change } = describeMutant(original, mutant);
    const isExplained = EXPLAINED.some((one) => one.file === file && one.line === line && one.change === change);
    const probe = isLua ? reachedInLua(original, mutant.start) : mutant.probe;
    return {
      file,
      place: original.slice(0, mutant.start).split('\n').length,
      line,
      change,
      result: isExplained ? 'explained' : 'not run',
      text: () => changed(original, mutant),
      probeText: () => (probe === null ? null : changed(original, probe)),
      original,
    };
  });
}

/** Returns the lines of explained.txt for these files that no mutant has any longer. */
export function staleExplanations(files, mutants) {
  const explains = (one) => (mutant) =>
    mutant.file === one.file && mutant.line === one.line && mutant.change === one.change;
  return EXPLAINED.filter((one) => files.includes(one.file) && !mutants.some(explains(one)));
}

/** Returns the mutants in an order that depends only on the seed. */
export function shuffled(mutants, seed) {
  const rank = ({ file, place, change }, at) =>
    createHash('sha256').update([seed, file, place, change, at].join('\n')).digest('hex');
  return mutants
    .map((mutant, at) => ({ mutant, rank: rank(mutant, at) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ mutant }) => mutant);
}

/** Checks that the tests of a file pass without a mutant, once for all files with these tests. Resolves to their time. */
function makeDryRuns() {
  const known = new Map();
  const run = async (lane, { file, original }, tests) => {
    const startedMs = Date.now();
    const { end, output } = await lane.tryText({ file, text: original, original, tests, withinMs: 600_000 });
    if (end !== 'passed') throw new Error(`The tests do not pass without a mutant:\n${output}`);
    return Date.now() - startedMs;
  };
  return (lane, mutant) => {
    const tests = testsOf(mutant.file);
    const name = tests.toSorted().join(' ');
    if (!known.has(name)) known.set(name, run(lane, mutant, tests));
    return known.get(name);
  };
}

/** Tests the mutants in lanes, and gives each its result. At `endsAtMs` those that have not ended stay 'not run'. */
export async function testMutants({ mutants, lanes: count, endsAtMs, redisServer }) {
  const lanes = await Promise.all(Array.from({ length: Math.min(count, mutants.length) }, () => makeLane(redisServer)));
  const dryRun = makeDryRuns();
  const waiting = [...mutants];
  let isOver = false;
  const end = () => {
    isOver = true;
    for (const lane of lanes) lane.abandon();
  };
  const bound = endsAtMs === Infinity ? null : setTimeout(end, endsAtMs - Date.now());
  // Lanes run in their own process groups, which a Ctrl-C does not reach.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end);

  async function testOne(lane, mutant) {
    const { file, original } = mutant;
    const withinMs = PATIENCE * (await dryRun(lane, mutant)) + GRACE_MS;
    const tests = testsOf(file);
    const attempt = (text) => lane.tryText({ file, text, original, tests, withinMs });
    const { end: ended, output } = await attempt(mutant.text());
    if (isOver) return;
    mutant.by = /^first failure: .*$/m.exec(output)?.[0] ?? null;
    if (ended !== 'passed') {
      mutant.result = ended === 'late' ? 'late' : 'killed';
      return;
    }
    const probe = mutant.probeText();
    const reached = probe === null ? 'failed' : (await attempt(probe)).end;
    mutant.result = reached === 'passed' && !isOver ? 'unreached' : 'survived';
  }

  async function work(lane) {
    for (let mutant = waiting.shift(); mutant !== undefined && !isOver; mutant = waiting.shift()) {
      const startedMs = Date.now();
      await testOne(lane, mutant);
      const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
      process.stdout.write(
        `${mutant.result.padEnd(9)} ${seconds} s  ${mutant.file}:${mutant.place}  ${mutant.change}\n`,
      );
    }
  }

  const workAndEnd = (lane) =>
    work(lane).catch((error) => {
      // A run that was cut off proves nothing.
      if (isOver) return;
      end();
      throw error;
    });
  const ended = await Promise.allSettled(lanes.map(workAndEnd));
  clearTimeout(bound);
  await Promise.all(lanes.map((lane) => lane.stop()));
  const failed = ended.find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw new Error('no mutant was tested', { cause: failed.reason });
}
