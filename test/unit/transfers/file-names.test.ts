import { findFileFlaws } from '../../../services/sync/transfers/file-names.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

const file = { name: 'photos/beach.jpg', size: 1 };

test('files with good names, sizes and types have no flaw', () => {
  expect(findFileFlaws([file, { name: 'notes', size: 0, type: 'text/plain; charset=utf-8' }])).toEqual([]);
});

test('each wrong field is named, with the place of its file', () => {
  const flaws = findFileFlaws([file, { name: 'a/../b', size: 1, type: 'text/\u0001' }, { name: '', size: 1 }]);
  expect(flaws.map(({ path }) => path)).toEqual(['/body/files/1/name', '/body/files/1/type', '/body/files/2/name']);
  expect(flaws.every(({ message }) => message.length > 0)).toBe(true);
});

test.each([
  ['a control character', 'text/\u0001'],
  ['an override of the direction', 'image/\u202egpj'],
])('a type with %s is refused', (_, type) => {
  expect(findFileFlaws([{ ...file, type }])).toMatchObject([{ path: '/body/files/0/type' }]);
});

test.each([
  [[LIMITS.fileBytes], []],
  [[LIMITS.fileBytes - 1, 1], []],
  [[LIMITS.fileBytes, 1], ['/body/files']],
  [[LIMITS.fileBytes - 1, 1, 1], ['/body/files']],
])('the sizes %j together end at the largest Upload-Offset', (sizes, paths) => {
  const flaws = findFileFlaws(sizes.map((size, i) => ({ name: `${i}`, size })));
  expect(flaws.map(({ path }) => path)).toEqual(paths);
});

test('an offer whose names are all wrong is answered with a few of them, the first ones', () => {
  const flaws = findFileFlaws(Array.from({ length: LIMITS.filesPerTransfer }, () => ({ name: '..', size: 1 })));
  expect(flaws.length).toBeLessThan(50);
  expect(flaws.map(({ path }) => path)).toEqual(flaws.map((_, i) => `/body/files/${i}/name`));
  expect(flaws.length).toBeGreaterThan(1);
});
