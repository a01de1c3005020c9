import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Mutant, MUTANTS } from '../simulate/mutants.ts';
import { makePlantedTree, type PlantedTree } from './planted-tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Tests that the simulation finds each of these faults, by one of twelve seeds. */
export function testFindings(isWanted: (mutant: Mutant) => boolean): void {
  let tree: PlantedTree;
  beforeAll(async () => {
    tree = await makePlantedTree();
  });
  afterAll(() => tree.remove());

  test.each(MUTANTS.filter(isWanted).map((one) => [one.title, one] as const))(
    'the simulation finds that %s',
    async (_, { file, from, to, breaks, firstSeed = 1 }) => {
      const text = await readFile(`${ROOT}${file}`, 'utf8');
      expect(text.split(from)).toHaveLength(2);
      const planted = text.replace(from, () => to);
      const seeds = ['--seeds', '12', '--from', String(firstSeed), '--stop'];
      await tree.write(file, planted);
      const { code, output } = await tree.run(['test/simulate/run.mjs', ...seeds]);
      await tree.write(file, text);

      expect(output).toContain(`FAIL  ${breaks}`);
      expect(code).toBe(1);
    },
    240_000,
  );
}
