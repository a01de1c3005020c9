import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/*
 * `npm run bench:sealed`: measures what encryption costs, sealed and unsealed in the same run. The output is a table of
 * ratios.
 */

const FULL = { rounds: '5', mib: '256', trips: '400' };
/** This only shows that the bench works: its figures mean nothing. */
const SMOKE = { rounds: '1', mib: '16', trips: '20' };
const PARTS = ['command-line', 'app', 'messages'];

const USAGE = `npm run bench:sealed -- [options]
  --smoke               small numbers: shows that it works
  --only <part,part>    of ${PARTS.join(', ')}
  --rounds <n>          sealed and unsealed, in turns (${FULL.rounds})
  --mib <n>             of a file (${FULL.mib})
  --trips <n>           of a message there and one back, in a round (${FULL.trips})
`;

function readOptions() {
  const word = { type: 'string' };
  const { values } = parseArgs({
    options: { smoke: { type: 'boolean' }, only: word, rounds: word, mib: word, trips: word },
  });
  const { smoke = false, only = PARTS.join(), ...given } = values;
  const options = { ...(smoke ? SMOKE : FULL), ...given };
  const isWrong = Object.values(options).some((text) => !(Number(text) > 0));
  if (isWrong || !only.split(',').every((part) => PARTS.includes(part))) throw new Error('A value is not possible');
  return { ...options, only };
}

function optionsOrExit() {
  try {
    return readOptions();
  } catch (error) {
    process.stderr.write(`${error.message}\n${USAGE}`);
    return process.exit(2);
  }
}

const options = optionsOrExit();
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const tests = spawn(process.execPath, [at('../../../deploy/local/test.mjs'), '--config', at('jest.config.mjs')], {
  stdio: 'inherit',
  env: {
    ...process.env,
    BENCH_SEALED_ONLY: options.only,
    BENCH_SEALED_ROUNDS: options.rounds,
    BENCH_SEALED_MIB: options.mib,
    BENCH_SEALED_TRIPS: options.trips,
  },
});
// A Ctrl-C of the terminal reaches the tests too, and they end by themselves.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => tests.kill('SIGTERM'));
tests.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
