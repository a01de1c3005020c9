import { buildOrExit } from '../../deploy/local/build.mjs';
import { installPackages, requireNode } from '../../deploy/local/setup.mjs';

/*
 * `npm run test:chart`: the chart as an SRE and an API server would see it, without a cluster. README.md says what is
 * asserted. `--install` builds Helm and the others, which takes some minutes the first time; further words choose tests by
 * a part of their title.
 */

requireNode();
installPackages();
await buildOrExit();
const { findTools, Unfetched } = await import('./tools.mjs');
const { makeTests } = await import('./tests.mjs');

function skip(reason) {
  console.log(`skipped: ${reason}`);
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}

/** Every test; ends the process where this machine has not what they need. */
async function findTests() {
  try {
    const { paths, missing } = findTools({ install: process.argv.includes('--install') });
    return missing ? skip(missing) : await makeTests(paths);
  } catch (error) {
    if (error instanceof Unfetched) return skip(`needs modules that cannot be fetched now: ${error.message}`);
    throw error;
  }
}

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const tests = (await findTests()).filter(({ title }) => words.every((word) => title.includes(word)));
let passed = 0;
const failed = [];

async function work() {
  for (let test = tests.shift(); test; test = tests.shift()) {
    const startedAt = Date.now();
    try {
      await test.body();
      passed += 1;
      console.log(`ok    ${test.title} (${Date.now() - startedAt} ms)`);
    } catch (error) {
      failed.push(test.title);
      console.log(`FAIL  ${test.title}\n${error.stack ?? error}`);
    }
  }
}

// Each waits for a child most of the time.
await Promise.all([work(), work(), work()]);
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 && passed > 0 ? 0 : 1;
