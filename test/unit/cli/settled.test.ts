import { isSameStamp } from '../../../services/cli/sending/settled.ts';

const HOUR_MS = 3_600_000;
const EVEN_MS = 1_700_000_000_000;
const LATER_MS = EVEN_MS + 24 * HOUR_MS;

test.each([
  ['the same', '5 1.5', '5 1.5', true],
  ['of FAT, an hour later', `5 ${EVEN_MS}`, `5 ${EVEN_MS + HOUR_MS}`, true],
  [
    'of FAT, an hour earlier, and in memory more exact before',
    `5 ${EVEN_MS + 1_234.5}`,
    `5 ${EVEN_MS - HOUR_MS}`,
    true,
  ],
  ['of another size', `5 ${EVEN_MS}`, `6 ${EVEN_MS + HOUR_MS}`, false],
  ['of a job that runs each hour', `5 ${EVEN_MS + 12.3}`, `5 ${EVEN_MS + HOUR_MS + 15.2}`, false],
  ['two hours later', `5 ${EVEN_MS}`, `5 ${EVEN_MS + 2 * HOUR_MS}`, false],
  ['a minute later', `5 ${EVEN_MS}`, `5 ${EVEN_MS + 60_000}`, false],
  ['not known before', undefined, `5 ${EVEN_MS}`, false],
])('a stamp that is %s', (_, before, now, isSame) => {
  expect(isSameStamp(before, now, LATER_MS)).toBe(isSame);
});

test.each([
  ['just now', 0, false],
  ['just now, with a clock that is behind', -60_000, false],
  ['an hour ago, as FAT shows a new file after the change of the clocks', HOUR_MS, false],
  ['half a day ago', 12 * HOUR_MS, true],
])('a file of FAT that has a date of exactly one hour later, written %s', (_, agoMs, isSame) => {
  const after = EVEN_MS + HOUR_MS;
  expect(isSameStamp(`5 ${EVEN_MS}`, `5 ${after}`, after + agoMs)).toBe(isSame);
});
