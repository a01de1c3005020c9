import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const SECONDS = JSON.parse(readFileSync(new URL('./file-seconds.json', import.meta.url), 'utf8'));
/** The time of a file that is not on the list. */
const SHORT = 1;

/**
 * Orders the files by their time in `file-seconds.json`: half of the time from the longest down, so that no worker ends alone
 * with a long one, and half from the shortest up. Long files wait and short ones compute, so together they fill the cores.
 * Unlike the order that jest remembers, it is the same on every machine.
 */
export default class LongAndShort {
  sort(tests) {
    const secondsOf = ({ path, context }) => SECONDS[relative(context.config.rootDir, path)] ?? SHORT;
    const left = [...tests].sort((a, b) => secondsOf(b) - secondsOf(a) || (a.path < b.path ? -1 : 1));
    const ordered = [];
    let ahead = 0;
    while (left.length > 0) {
      const isLongNext = ahead <= 0;
      const test = isLongNext ? left.shift() : left.pop();
      ahead += isLongNext ? secondsOf(test) : -secondsOf(test);
      ordered.push(test);
    }
    return ordered;
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
