import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { makePlantedTree, type PlantedTree } from '../gates/planted-tree.ts';
import { type Mutant, MUTANTS } from './mutants.ts';

const ROOT = new URL('../../', import.meta.url);

/** The number of seeds between two looks at the time. */
const SEEDS_AT_ONCE = 12;

interface Finding {
  /** The first seed that finds the fault; '' when none did in the time. */
  seed: string;
  seconds: number;
}

async function find(tree: PlantedTree, mutant: Mutant, minutes: number): Promise<Finding> {
  const { file, from, to, breaks, firstSeed = 1 } = mutant;
  const text = await readFile(new URL(file, ROOT), 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} has not once: ${from}`);
  const planted = text.replace(from, () => to);
  await tree.write(file, planted);
  const began = performance.now();
  const seconds = (): number => Math.round((performance.now() - began) / 1_000);
  try {
    for (let seed = firstSeed; seconds() < minutes * 60; seed += SEEDS_AT_ONCE) {
      const seeds = ['--seeds', String(SEEDS_AT_ONCE), '--from', String(seed), '--stop'];
      const { output } = await tree.run(['test/simulate/run.mjs', ...seeds]);
      const [, found = ''] = /^FAIL {2}seed (\d+):/m.exec(output) ?? [];
      if (found !== '' && output.includes(`FAIL  ${breaks}`)) return { seed: found, seconds: seconds() };
      if (found === '') continue;
      // `test/gates/planted-simulation.ts` takes the first seed that fails.
      process.stderr.write(`seed ${found} fails, and keeps the promise: ${breaks}\n`);
      seed = Number(found) + 1 - SEEDS_AT_ONCE;
    }
    return { seed: '', seconds: seconds() };
  } finally {
    await tree.write(file, text);
  }
}

/** Runs the chosen faults, and prints where each was found. Resolves to the exit code. */
export async function findMutants(argv: string[]): Promise<number> {
  const options = { minutes: { type: 'string' as const, default: '10' } };
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  const isWanted = ({ title }: Mutant): boolean =>
    positionals.length === 0 || positionals.some((words) => title.includes(words));
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  say('| fault | file | model | seed | s |\n| --- | --- | --- | --- | --- |');
  const tree = await makePlantedTree();
  let missed = 0;
  try {
    for (const mutant of MUTANTS.filter(isWanted)) {
      const { seed, seconds } = await find(tree, mutant, Number(values.minutes));
      if (seed === '') missed += 1;
      const model = mutant.model === undefined ? '-' : `\`${mutant.model.name}\``;
      say(
        `| ${mutant.title} | \`${mutant.file.replace('services/sync/', '')}\` | ${model} | ${seed || 'none'} | ${seconds} |`,
      );
    }
  } finally {
    await tree.remove();
  }
  say(`${missed} were not found`);
  return missed === 0 ? 0 : 1;
}
