import { vectorChecks } from '../../../support/sealed/vector-checks.ts';
import { rfcVectors, sealedVectors } from '../../../support/sealed/vector-files.ts';

const checks = vectorChecks(sealedVectors(), rfcVectors());

test.each(checks)('$title', async ({ run }) => {
  const { got, wanted } = await run();
  expect(got).toEqual(wanted);
});

test('each has a title of its own', () => {
  expect(new Set(checks.map(({ title }) => title)).size).toBe(checks.length);
});

test('both modes of RFC 9180 are there, and a clipboard of as many bytes as one may have', () => {
  expect(rfcVectors().vectors.map(({ mode }) => mode)).toEqual([0, 1]);
  expect(sealedVectors().clipboards).toContainEqual(expect.objectContaining({ text: '\n', times: 65_536 }));
});
