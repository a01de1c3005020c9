import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

/*
 * `npm run test:hostile -- --seeds 1000`: hostile-server.test.ts with as many seeds as are wanted. `--from N` begins
 * at that seed, to go on where another run stopped. `--seed N` has the run of that seed alone, which a failed run has printed.
 */

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string', default: '' },
  },
});
const { seeds, from, seed } = values;
const env = { ...process.env, APP_TEST_SEEDS: seeds, APP_TEST_FIRST_SEED: from, APP_TEST_SEED: seed };
const child = spawn(process.execPath, ['deploy/local/test.mjs', 'test/endurance/hostile-server'], {
  stdio: 'inherit',
  env,
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
