import { CHECK, LINT, PROPS } from './planted.ts';
import { makePlantedTree, type PlantedTree } from './planted-tree.ts';

interface Diagnostic {
  code: string;
  filename: string;
}

let tree: PlantedTree;
/** What each gate printed, by its name. */
const verdicts = new Map<string, string>();
let diagnostics: Diagnostic[];
let exitCode: number;

beforeAll(async () => {
  tree = await makePlantedTree([...PROPS, ...LINT, ...CHECK]);
  const check = await tree.run(['deploy/check/check.mjs']);
  exitCode = check.code;
  for (const part of check.output.split(/^(?=(?:ok {2}|FAIL) {2}\S)/m)) {
    verdicts.set(part.slice(6, 19).trim(), part);
  }
  // The gate has checked all files. Rule and file are only read for what was planted.
  const lint = await tree.run(['node_modules/oxlint/bin/oxlint', '--format=json', ...LINT.map(({ file }) => file)]);
  diagnostics = (JSON.parse(lint.output) as { diagnostics: Diagnostic[] }).diagnostics;
}, 300_000);

afterAll(() => tree.remove());

test.each(CHECK)('the gate "$gate" refuses $what', ({ gate, file, names = file }) => {
  expect(verdicts.get(gate)).toMatch(/^FAIL/);
  expect(verdicts.get(gate)).toContain(names);
});

test('the gate "dead code" names the export', () => {
  expect(verdicts.get('dead code')).toMatch(/^dead +services\/sync\/planted\/half-dead\.ts/m);
});

test('a refusal is an exit code', () => {
  expect(exitCode).toBe(1);
});

test.each(LINT)('the linter refuses $what', ({ rule, file }) => {
  expect(diagnostics).toContainEqual(expect.objectContaining({ code: rule, filename: file }));
});
