import { readFileSync } from 'node:fs';
import { makePlantedTree, type PlantedTree } from './planted-tree.ts';

const LINE = 'export const isMany = (count: number): boolean => count >= 2 && count < 100;';
/** A rule whose test checks only half of it, and one whose test fails without any mutant. */
const FILES = [
  { file: 'test/planted/half.ts', text: `${LINE}\n` },
  {
    file: 'test/planted/half.test.ts',
    text: `import { isMany } from './half.ts';
      test('four are many, none are not', () => { expect([isMany(4), isMany(0)]).toEqual([true, false]); });`,
  },
  { file: 'test/planted/broken.ts', text: 'export const isTrue = () => true;\n' },
  { file: 'test/planted/broken.test.ts', text: `test('it is broken', () => { expect(1).toBe(2); });` },
  {
    file: 'test/mutation/scope.mjs',
    text: readFileSync(new URL('../mutation/scope.mjs', import.meta.url), 'utf8')
      .replace(
        'const PARTS = [',
        `const PARTS = [
          { files: /planted.half.ts/, tests: ['test/planted/half.test.ts'] },
          { files: /planted.broken.ts/, tests: ['test/planted/broken.test.ts'] },`,
      )
      .replace("['services', 'shared']", "['test/planted']"),
  },
  { file: 'test/mutation/scores.json', text: '{ "test/planted/half.ts": { "killed": 2, "total": 5 } }' },
  { file: 'test/mutation/explained.txt', text: `test/planted/half.ts | ${LINE} | 100 -> 200 | nobody counts so far\n` },
];

let tree: PlantedTree;

beforeAll(async () => {
  tree = await makePlantedTree(FILES);
});

afterAll(() => tree.remove());

const mutate = (name: string, ...words: string[]) =>
  tree.run(['test/mutation/run.mjs', '--file', `test/planted/${name}.ts`, ...words]);

test('mutants that no test notices are named, and a score below the committed one fails', async () => {
  const { code, output } = await mutate('half');
  expect(output).toContain(`survived: test/planted/half.ts:1\n  test/planted/half.ts | ${LINE} | >= -> > |`);
  expect(output).toContain('25.0 %  1 of 4 killed, 0 by time, 3 survived (0 not reached), 1 explained');
  expect(output).toContain('FAIL  test/planted/half.ts: 1 of 4 killed, after 2 of 5');
  expect(code).toBe(1);

  const accepted = await mutate('half', '--accept');
  expect(accepted.output).toMatch(/^1 passed, 0 failed$/m);
  expect(accepted.code).toBe(0);
}, 240_000);

test('a part of a file fails when it has more survivors than the whole file had', async () => {
  const { code, output } = await mutate('half', '--sample', '1', '--seed', 'a');
  expect(output).toMatch(/1 of 5 mutants in 1 files/);
  expect(output).toMatch(/\(in part\)$/m);
  expect(code).toBe(0);
}, 240_000);

test('a file that had no mutants fails as soon as one survives, and one without a score always', async () => {
  const { output } = await tree.run([
    '--input-type=module',
    '-e',
    `import { flawOf } from './test/mutation/score.mjs';
     for (const killed of [2, 1])
       console.log(flawOf({ killed, total: 2, survivors: 2 - killed, isWhole: true }, { killed: 0, total: 0 }));
     console.log(flawOf({ killed: 2, total: 2, survivors: 0, isWhole: false }));`,
  ]);
  const without = 'it has no score yet: run it whole with --accept';
  expect(output.trim().split('\n')).toEqual(['null', '1 of 2 killed, after 0 of 0', without]);
});

test('tests that fail without a mutant kill none', async () => {
  const { code, output } = await mutate('broken');
  expect(output).toContain('The tests do not pass without a mutant');
  expect(output).not.toMatch(/^killed/m);
  expect(code).toBe(1);
}, 240_000);

test('the mutator of Lua changes comparisons, conditions, numbers and returns, and takes writes out', async () => {
  const lua = `-- or not\nif late or now >= 10 then return nil end\nredis.call('EXPIRE', key, 60)\nif gone then return 'no' end`;
  const { output } = await tree.run([
    '--input-type=module',
    '-e',
    `import { mutantsOfLua } from './test/mutation/lua.mjs';
     const text = ${JSON.stringify(lua)};
     for (const { start, end, to } of mutantsOfLua(text)) console.log(text.slice(start, end), '=>', to);`,
  ]);
  expect(
    output
      .trim()
      .split('\n')
      .map((line) => line.trim()),
  ).toEqual([
    'or => and',
    '>= => >',
    '10 => 11',
    '10 => 9',
    "redis.call('EXPIRE', key, 60) =>",
    '60 => 61',
    'gone => not (gone)',
    "return 'no' => return nil",
  ]);
});
