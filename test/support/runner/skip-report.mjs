import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const REASON = / \[skipped: (.*?)\]/;
const LIST = '.ci/expected-skips.txt';

/** Returns the names on the committed list, one a line. `#` starts a comment. */
function readExpected(rootDir) {
  const path = join(rootDir, LIST);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return new Set(lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')));
}

/**
 * Ends a run with the skipped tests, by name and reason, and one line of counts. With `CI=true` it fails the run for a
 * skip that is not on the committed list, so that a machine that lost a tool does not pass as healthy.
 */
export default class SkipReport {
  #config;
  #error;

  constructor(config) {
    this.#config = config;
  }

  onRunComplete(_contexts, results) {
    const skips = results.testResults.flatMap((file) => this.#skipsOf(file));
    const expected = readExpected(this.#config.rootDir);
    const unexpected = process.env.CI === 'true' ? skips.filter(({ name }) => !expected.has(name)) : [];
    const lines = ['', ...skips.map(({ name, reason }) => `skipped: ${name} (${reason})`)];
    if (unexpected.length > 0) {
      this.#error = new Error(`${unexpected.length} skipped, but not on ${LIST}`);
      lines.push(`${this.#error.message}:`, ...unexpected.map(({ name }) => `  ${name}`));
    }
    const passed = results.numPassedTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + unexpected.length;
    lines.push(`${passed} passed, ${failed} failed${skips.length > 0 ? `, ${skips.length} skipped` : ''}`);
    // Runs after the summary, which jest prints after all reports.
    process.once('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
  }

  getLastError() {
    return this.#error;
  }

  #skipsOf({ testFilePath, testResults }) {
    const file = relative(this.#config.rootDir, testFilePath);
    // With -t, all tests that the pattern leaves out are pending too.
    const isSkip = ({ status, fullName }) =>
      REASON.test(fullName) || (['pending', 'todo', 'disabled'].includes(status) && !this.#config.testNamePattern);
    return testResults
      .filter((result) => result.status !== 'passed' && result.status !== 'failed' && isSkip(result))
      .map(({ fullName }) => ({
        name: `${file}: ${fullName.replace(REASON, '')}`,
        reason: REASON.exec(fullName)?.[1] ?? 'no reason given',
      }));
  }
}
