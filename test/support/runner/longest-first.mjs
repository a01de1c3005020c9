import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';

const SECONDS = JSON.parse(readFileSync(new URL('./file-seconds.json', import.meta.url), 'utf8'));

/** Returns the expected time of a file. Files that are not on the list are short; the larger of two comes first. */
const weightOf = ({ path, context }) => {
  const name = relative(context.config.rootDir, path);
  return SECONDS[name] ?? statSync(path).size / 1e6;
};

/**
 * Orders the files by their time in `file-seconds.json`, the longest first, so that no worker ends alone with a long one.
 * Unlike the order that jest remembers, it is the same on every machine.
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
