import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

/*
 * `npm run test:cli:seeded -- --runs 200`: does this many runs of seeded.test.ts. `--seed N`, which a failed run prints,
 * repeats the same files, faults and times. With `--path P` it repeats only that one run.
 */

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '' },
    path: { type: 'string', default: '' },
  },
});
const env = { ...process.env };
env.APP_TEST_SEEDED_RUNS = values.runs;
env.APP_TEST_SEEDED_SEED = values.seed;
env.APP_TEST_SEEDED_PATH = values.path;
const args = ['deploy/local/test.mjs', '--config', 'test/cli/jest.config.mjs', 'test/cli/seeded'];
const child = spawn(process.execPath, args, { stdio: 'inherit', env });
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
