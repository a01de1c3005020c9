import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

/*
 * `npm run test:hostile -- --seeds 1000`: hostile-server.test.ts with as many seeds as are wanted. `--seed N` has the run of
 * that seed alone, which a failed run has printed.
 */

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, seed: { type: 'string', default: '' } },
});
const env = { ...process.env, APP_TEST_SEEDS: values.seeds, APP_TEST_SEED: values.seed };
const child = spawn(process.execPath, ['deploy/local/test.mjs', 'test/endurance/hostile-server'], {
  stdio: 'inherit',
  env,
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
