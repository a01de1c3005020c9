import { MODELS } from '../models/mutants.mjs';
import { MUTANTS } from '../simulate/mutants.ts';
import { testFindings } from './planted-simulation.ts';

testFindings(({ file }) => !file.endsWith('.lua'));

test('the faults that are said to be in a model too are there', () => {
  const said = MUTANTS.flatMap(({ model }) => (model === undefined ? [] : [model]));
  expect(said.length).toBeGreaterThan(0);
  for (const { name, title } of said) expect(MODELS[name].map((one) => one.title)).toContain(title);
});
