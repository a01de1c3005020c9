import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { PLANTS } from './plants/plants.mjs';

/*
 * `npm run test:hostile -- --seeds 1000` runs hostile-server.test.ts with this many seeds. `--from N` begins at that seed,
 * to go on where another run stopped. `--seed N` runs only that seed, which a failed run has printed.
 *
 * `npm run test:hostile -- --plants`: takes checks of the client away, one after the other (plants/plants.mjs), and names
 * the first seed that finds each. It fails if one is not found. `--plants WORD` takes only those with that word in their
 * name.
 */

const options = {
  seeds: { type: 'string' },
  from: { type: 'string', default: '0' },
  seed: { type: 'string', default: '' },
  plants: { type: 'boolean' },
};
const { values, positionals } = parseArgs({ allowPositionals: true, options });
const { from, seed, plants } = values;
const SUITE = 'test/endurance/hostile-server';
const seeded = {
  ...process.env,
  ...{ APP_TEST_SEEDS: values.seeds ?? (plants ? '100' : '1000'), APP_TEST_FIRST_SEED: from, APP_TEST_SEED: seed },
};

/** Runs the suite. Resolves with its exit status, and with its output if that is not shown. */
function run(args, env, stdio) {
  const child = spawn(process.execPath, ['deploy/local/test.mjs', ...args, SUITE], { stdio, env });
  let output = '';
  child.stdout?.on('data', (part) => {
    output += part;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

async function findPlant({ name }) {
  const env = { ...seeded, APP_TEST_PLANT: name, APP_TEST_UNTIL_FAULT: '1' };
  const { output } = await run(['--config', 'test/sealed/plants/jest.config.mjs'], env, ['ignore', 'pipe', 'ignore']);
  const found = /^seed \d+: .*$/m.exec(output)?.[0] ?? null;
  // A suite that did not run has found nothing either.
  const hasRun = /^\d+ seeds: /m.test(output);
  process.stdout.write(`${name}: ${found ?? (hasRun ? 'NOT FOUND' : `did not run\n${output}`)}\n`);
  return found !== null;
}

if (plants) {
  const wanted = PLANTS.filter(({ name }) => positionals.every((word) => name.includes(word)));
  const found = [];
  for (const plant of wanted) found.push(await findPlant(plant));
  process.exitCode = found.length > 0 && found.every(Boolean) ? 0 : 1;
} else {
  process.exitCode = (await run([], seeded, 'inherit')).code;
}
