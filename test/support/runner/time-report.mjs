import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const SLOWEST = 10;
/** For shorter files the order does not matter. */
const LISTED_FROM_SECONDS = 3;
const LIST = new URL('./file-seconds.json', import.meta.url);

const row = ({ name, seconds, tests }) => `${seconds.toFixed(1).padStart(7)} s ${String(tests).padStart(5)}  ${name}`;

/**
 * Ends a run with the time and the number of tests of every file, the slowest last. With `APP_TEST_RECORD_SECONDS` the
 * times go into the list that puts long files first.
 */
export default class TimeReport {
  #config;

  constructor(config) {
    this.#config = config;
  }

  onRunComplete(_contexts, results) {
    const files = results.testResults
      .map(({ testFilePath, perfStats, testResults }) => ({
        name: relative(this.#config.rootDir, testFilePath),
        seconds: Math.max(0, perfStats.end - perfStats.start) / 1_000,
        tests: testResults.length,
      }))
      .sort((a, b) => a.seconds - b.seconds);
    if (process.env.APP_TEST_RECORD_SECONDS) this.#record(files);
    if (files.length < 2) return;
    const [rest, slowest] = [files.slice(0, -SLOWEST), files.slice(-SLOWEST)];
    const lines = ['', 'Time and tests of each file:', ...rest.map(row)];
    lines.push(`The ${slowest.length} slowest:`, ...slowest.map(row), '');
    // Runs after the summary, which jest prints after all reports.
    process.once('exit', () => process.stdout.write(lines.join('\n')));
  }

  /** Files that this run left out keep their times. */
  #record(files) {
    const times = new Map(Object.entries(JSON.parse(readFileSync(LIST, 'utf8'))));
    for (const { name, seconds } of files) times.set(name, Math.round(seconds));
    const entries = [...times].filter(([, seconds]) => seconds >= LISTED_FROM_SECONDS);
    writeFileSync(
      LIST,
      `${JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`,
    );
  }
}
