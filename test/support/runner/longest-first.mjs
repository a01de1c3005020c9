import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';

const SECONDS = JSON.parse(readFileSync(new URL('./file-seconds.json', import.meta.url), 'utf8'));

/** What is not on the list is short; the larger of two such files first. */
const weightOf = ({ path, context }) => {
  const name = relative(context.config.rootDir, path);
  return SECONDS[name] ?? statSync(path).size / 1e6;
};

/**
 * The order of the files: those that took longest, as `file-seconds.json` has them, first, so that no worker is left alone
 * with a long one at the end. The same on every machine, unlike the order that jest remembers.
 */
export default class LongestFirst {
  sort(tests) {
    const weights = new Map(tests.map((test) => [test, weightOf(test)]));
    return [...tests].sort((a, b) => weights.get(b) - weights.get(a));
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
