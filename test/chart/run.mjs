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
const { findTools } = await import('./tools.mjs');
const { makeTests } = await import('./tests.mjs');

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const { paths, missing } = findTools({ install: process.argv.includes('--install') });
if (missing) {
  console.log(`skipped: ${missing}`);
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}

const tests = (await makeTests(paths)).filter(({ title }) => words.every((word) => title.includes(word)));
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
