import { lackingFlags } from '../../../deploy/image/heap-flags.mjs';

const MIB = 1024 * 1024;

test.each([
  [192, ['--max-old-space-size=105', '--max-semi-space-size=8']],
  [256, ['--max-old-space-size=140', '--max-semi-space-size=10']],
  [768, ['--max-old-space-size=422', '--max-semi-space-size=16']],
  [4_096, ['--max-old-space-size=2252', '--max-semi-space-size=16']],
])('a container of %i MiB has a heap of its own size', (mebibytes, flags) => {
  expect(lackingFlags(mebibytes * MIB, [])).toEqual(flags);
});

test('where nothing limits it Node decides', () => {
  expect(lackingFlags(null, [])).toEqual([]);
});

test.each([
  [['--max-old-space-size=300'], ['--max-semi-space-size=16']],
  [['--max_old_space_size=300'], ['--max-semi-space-size=16']],
  [['--max-old-space-size-percentage=45'], ['--max-semi-space-size=16']],
  [['--import', './tracing.mjs', '--max-semi-space-size=8'], ['--max-old-space-size=422']],
  [['--max-old-space-size=300', '--max-semi-space-size=8'], []],
])('what %j says goes before', (given, flags) => {
  expect(lackingFlags(768 * MIB, given)).toEqual(flags);
});
