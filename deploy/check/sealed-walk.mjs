import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../local/setup/tree.mjs';

const PAGE = 'test/sealed/README.md';
const TESTS = /^`([^`]+\.ts)`: (.+)$/;

const textOf = (path) => readFileSync(join(ROOT, path), 'utf8');

/** Tells whether a file has a test with this title, whatever its quotation marks are. */
function hasTest(path, title) {
  const text = textOf(path).replaceAll("\\'", "'");
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((quoted) => text.includes(quoted));
}

function faultsOfTest(cited) {
  const [, path, title] = TESTS.exec(cited) ?? [];
  if (path === undefined) return [`is neither a test nor a reason: ${cited}`];
  if (!existsSync(join(ROOT, 'test', path))) return [`there is no test/${path}`];
  return hasTest(join('test', path), title) ? [] : [`test/${path} has no test "${title}"`];
}

function faultsOfCode(code) {
  const path = /^`([^`]+)`$/.exec(code)?.[1];
  if (path === undefined) return code === '-' ? [] : [`is no file: ${code}`];
  return existsSync(join(ROOT, path)) ? [] : [`there is no ${path}`];
}

/** Returns the rows of the page whose file or test does not exist, and those without either a test or a reason. */
export function findBrokenWalk() {
  const rows = textOf(PAGE)
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (---|rule) /.test(line));
  if (rows.length === 0) return [`${PAGE}: there are no rows`];
  return rows.flatMap((row) => {
    const [rule, code = '', tests = '', ...more] = row.slice(2, -2).split(' | ');
    const cited = tests.startsWith('none: ') ? [] : tests.split(/; (?=`)/);
    const faults = [
      ...faultsOfCode(code),
      ...cited.flatMap(faultsOfTest),
      ...more.map(() => 'has more than three cells'),
    ];
    return faults.map((fault) => `${PAGE}: "${rule}" ${fault}`);
  });
}
