import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Mutant, MUTANTS } from '../simulate/mutants.ts';
import { makePlantedTree } from './planted-tree.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Tests that the simulation finds each of these faults, by one of twelve seeds. */
export function testFindings(isWanted: (mutant: Mutant) => boolean): void {
  test.each(MUTANTS.filter(isWanted).map((one) => [one.title, one] as const))(
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
}
