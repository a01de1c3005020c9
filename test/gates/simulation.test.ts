import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MUTANTS } from '../simulate/mutants.ts';
import { makePlantedTree } from './planted-tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

test.each(MUTANTS.map((one) => [one.title, one] as const))(
  'the simulation finds that %s',
  async (_, { file, from, to, breaks }) => {
    const text = await readFile(`${ROOT}${file}`, 'utf8');
    expect(text.split(from)).toHaveLength(2);
    const tree = await makePlantedTree([{ file, text: text.replace(from, () => to) }]);
    try {
      const { code, output } = await tree.run(['test/simulate/run.mjs', '--seeds', '12', '--stop']);

      expect(output).toContain(`FAIL  ${breaks}`);
      expect(code).toBe(1);
    } finally {
      await tree.remove();
    }
  },
  240_000,
);
