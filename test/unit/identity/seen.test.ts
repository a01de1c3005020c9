import { makeSeen } from '../../../services/sync/identity/seen.ts';

test('the key that was not used for longest is forgotten first', () => {
  const seen = makeSeen(2);
  seen.add('a');
  seen.add('b');
  seen.has('a');
  seen.add('c');
  expect(['a', 'b', 'c'].filter((key) => seen.has(key))).toEqual(['a', 'c']);
});
