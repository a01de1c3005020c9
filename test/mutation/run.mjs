import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { mutantsOfFile, shuffled, staleExplanations, testMutants } from './mutants.mjs';
import { filesInScope } from './scope.mjs';
import { committedScores, flawOf } from './score.mjs';

/*
 * `npm run test:mutation`: changes the product in one place after the other, and reports each change that no test notices.
 * test/README.md says how to read it. Exit status 1: the score of a file fell below scores.json.
 */
const USAGE = `npm run test:mutation -- --all | --changed [<base>] | --file <path> ...
  --minutes <n>  ends after this time; what has not run does not count
  --seed <word>  with --minutes or --sample: the order of the mutants
  --sample <n>   at most so many mutants
  --lanes <n>    so many at once (2)
  --json <file>  writes the whole result
  --accept       writes the scores of files that ran whole to scores.json`;
/** The size of the sample if there is nothing to compare with, as in a checkout of one commit. */
const SAMPLE = 16;

const git = (...words) =>
  execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

function gitOrNull(...words) {
  try {
    return git(...words);
  } catch {
    return null;
  }
}

/** Returns the commit to compare with: the one at which this branch began, or, without a branch, the commit before HEAD. */
function findBase(given) {
  const head = gitOrNull('rev-parse', 'HEAD');
  const base = gitOrNull('merge-base', 'HEAD', given || 'origin/main');
  return base !== null && base !== head ? base : gitOrNull('rev-parse', 'HEAD^');
}

/** Returns the files and the size of the sample, as the options ask for them. */
function chosen(options, paths) {
  const scope = filesInScope();
  if (options.all) return { files: scope };
  if (options.file) {
    const outside = options.file.filter((file) => !scope.includes(file));
    if (outside.length > 0) throw new Error(`not in scope.mjs: ${outside.join(', ')}`);
    return { files: options.file };
  }
  if (!options.changed) return null;
  const base = findBase(paths[0]);
  if (base === null) return { files: scope, sample: SAMPLE, why: 'no commit to compare with' };
  const changed = new Set(git('diff', '--name-only', '--diff-filter=d', base).split('\n'));
  return { files: scope.filter((file) => changed.has(file)), why: `changed since ${base.slice(0, 12)}` };
}

function summaryOf(file, mutants) {
  const count = (wanted) => mutants.filter(({ result }) => result === wanted).length;
  const [killed, late] = [count('killed'), count('late')];
  const [survived, unreached] = [count('survived'), count('unreached')];
  return {
    killed: killed + late,
    total: killed + late + survived + unreached,
    late,
    survivors: survived + unreached,
    unreached,
    explained: count('explained'),
    isWhole: count('not run') === 0,
    file,
  };
}

function printSummary({ file, killed, total, late, survivors, unreached, explained, isWhole }) {
  const score = total === 0 ? '-' : `${((100 * killed) / total).toFixed(1)} %`;
  const extras = `${late} by time, ${survivors} survived (${unreached} not reached), ${explained} explained`;
  process.stdout.write(
    `${score.padStart(8)}  ${killed} of ${total} killed, ${extras}  ${file}${isWhole ? '' : '  (in part)'}\n`,
  );
}

function printSurvivors(mutants) {
  for (const { file, place, line, change, result } of mutants) {
    if (result === 'survived' || result === 'unreached') {
      process.stdout.write(`${result}: ${file}:${place}\n  ${file} | ${line} | ${change} |\n`);
    }
  }
}

function accept(summaries) {
  const scores = committedScores();
  for (const { file, killed, total, isWhole } of summaries) if (isWhole) scores[file] = { killed, total };
  const kept = Object.entries(scores).filter(([file]) => existsSync(join(ROOT, file)));
  const sorted = Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(new URL('./scores.json', import.meta.url), `${JSON.stringify(sorted, null, 2)}\n`);
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean' },
    changed: { type: 'boolean' },
    file: { type: 'string', multiple: true },
    minutes: { type: 'string' },
    seed: { type: 'string' },
    sample: { type: 'string' },
    lanes: { type: 'string', default: '2' },
    json: { type: 'string' },
    accept: { type: 'boolean' },
  },
});
const choice = chosen(options, positionals);
if (choice === null) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}

requireNode();
installPackages();
const redisServer = requireRedisServer('APP_TEST_REDIS_SERVER');
await buildOrExit();
const found = choice.files.flatMap((file) => mutantsOfFile(file, readFileSync(join(ROOT, file), 'utf8')));
const stale = staleExplanations(choice.files, found);
if (stale.length > 0) {
  const lines = stale.map(({ file, line, change }) => `${file} | ${line} | ${change}`);
  throw new Error(`explained.txt explains what is not there any more:\n${lines.join('\n')}`);
}
const most = Number(options.sample ?? choice.sample ?? found.length);
const isBounded = options.minutes !== undefined || most < found.length;
const ordered =
  isBounded && (options.seed || !options.file)
    ? shuffled(found, options.seed ?? gitOrNull('rev-parse', 'HEAD') ?? '')
    : found;
const wanted = ordered.filter(({ result }) => result === 'not run').slice(0, most);
process.stdout.write(
  `${wanted.length} of ${found.length} mutants in ${choice.files.length} files${choice.why ? `, ${choice.why}` : ''}\n`,
);
await testMutants({
  mutants: wanted,
  lanes: Number(options.lanes),
  endsAtMs: options.minutes === undefined ? Infinity : Date.now() + Number(options.minutes) * 60_000,
  redisServer,
});

const summaries = choice.files.map((file) =>
  summaryOf(
    file,
    found.filter((mutant) => mutant.file === file),
  ),
);
if (options.json) writeFileSync(options.json, JSON.stringify({ summaries, mutants: found }, null, 2));
if (options.accept) accept(summaries);
const scores = committedScores();
const flaws = summaries.map((summary) => ({ file: summary.file, flaw: flawOf(summary, scores[summary.file]) }));
printSurvivors(found);
for (const summary of summaries) if (summary.total > 0) printSummary(summary);
const fallen = flaws.filter(({ flaw }) => flaw !== null);
for (const { file, flaw } of fallen) process.stdout.write(`FAIL  ${file}: ${flaw}\n`);
process.stdout.write(`${summaries.length - fallen.length} passed, ${fallen.length} failed\n`);
process.exitCode = fallen.length === 0 ? 0 : 1;
