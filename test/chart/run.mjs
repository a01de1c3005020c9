import { buildOrExit } from '../../deploy/build/build.mjs';
import { installPackages, requireNode } from '../../deploy/local/setup/setup.mjs';

/*
 * `npm run test:chart`: tests the chart as an SRE and an API server would see it, without a cluster. README.md says what is
 * asserted. `--cluster` instead installs it on a Kubernetes that is started for it. `--install` builds Helm and the others,
 * which takes some minutes the first time; further words choose tests by a part of their title.
 */

requireNode();
installPackages();
await buildOrExit();
const { findTools, Unfetched } = await import('./tools.mjs');

const options = process.argv.slice(2);
const install = options.includes('--install');
const words = options.filter((word) => !word.startsWith('--'));
const isChosen = ({ title }) => words.every((word) => title.includes(word));

function skip(reason) {
  console.log(`skipped: ${reason}`);
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}

/** Returns sequences of one test each. */
async function withoutCluster(tools) {
  const { makeTests } = await import('./tests.mjs');
  return (await makeTests(tools)).filter(isChosen).map((test) => ({ title: '', steps: () => [test] }));
}

let stop = async () => undefined;

async function onCluster(tools) {
  const { findCluster } = await import('./cluster/programs.mjs');
  const { paths, missing } = findCluster({ install });
  if (missing) return skip(missing);
  const { makeCluster } = await import('./cluster/start.mjs');
  const { makeSequences } = await import('./cluster/tests.mjs');
  const startedAt = Date.now();
  const made = makeCluster({ paths });
  stop = made.stop;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void stop().then(() => process.exit(1)));
  const cluster = await made.start();
  console.log(`Kubernetes ${cluster.version} started in ${Date.now() - startedAt} ms`);
  return (await makeSequences({ cluster, tools })).filter(isChosen);
}

/** Returns every sequence of tests. Ends the process if this machine lacks what they need. */
async function findSequences() {
  try {
    const { paths, missing } = findTools({ install });
    if (missing) return skip(missing);
    return await (options.includes('--cluster') ? onCluster(paths) : withoutCluster(paths));
  } catch (error) {
    if (error instanceof Unfetched) return skip(`needs modules that cannot be fetched now: ${error.message}`);
    throw error;
  }
}

let passed = 0;
let failed = 0;

/** Runs the tests of a sequence. The first that fails ends it, because later tests need what it leaves behind. */
async function follow({ title: sequence, steps }) {
  const left = await steps();
  for (let test = left.shift(); test; test = left.shift()) {
    const title = sequence ? `${sequence}: ${test.title}` : test.title;
    const startedAt = Date.now();
    try {
      await test.body();
      passed += 1;
      console.log(`ok    ${title} (${Date.now() - startedAt} ms)`);
    } catch (error) {
      failed += 1 + left.length;
      console.log(`FAIL  ${title}\n${error.stack ?? error}`);
      return left.forEach((unrun) => console.log(`FAIL  ${unrun.title} (not reached)`));
    }
  }
}

async function work(sequences) {
  for (let sequence = sequences.shift(); sequence; sequence = sequences.shift()) await follow(sequence);
}

try {
  const sequences = await findSequences();
  // Each waits for a child most of the time.
  await Promise.all([work(sequences), work(sequences), work(sequences)]);
} finally {
  await stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
