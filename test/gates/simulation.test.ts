import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MODELS } from '../models/mutants.mjs';
import { MUTANTS } from '../simulate/mutants.ts';
import { makePlantedTree } from './planted-tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test.each(MUTANTS.map((one) => [one.title, one] as const))(
  'the simulation finds that %s',
  async (_, { file, from, to, breaks, firstSeed = 1 }) => {
    const text = await readFile(`${ROOT}${file}`, 'utf8');
    expect(text.split(from)).toHaveLength(2);
    const tree = await makePlantedTree([{ file, text: text.replace(from, () => to) }]);
    try {
      const { code, output } = await tree.run([
        'test/simulate/run.mjs',
        ...['--seeds', '12', '--from', String(firstSeed), '--stop'],
      ]);

      expect(output).toContain(`FAIL  ${breaks}`);
      expect(code).toBe(1);
    } finally {
      await tree.remove();
    }
  },
  240_000,
);

test('the faults that are said to be in a model too are there', () => {
  const said = MUTANTS.flatMap(({ model }) => (model === undefined ? [] : [model]));
  expect(said.length).toBeGreaterThan(0);
  for (const { name, title } of said) expect(MODELS[name].map((one) => one.title)).toContain(title);
});
