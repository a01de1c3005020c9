/** The exit status of a run in which a test failed. Any other status except 0 means that the run did not get that far. */
const KILLED = 1;

function endBecauseOf(title) {
  process.stdout.write(`first failure: ${title}\n`, () => process.exit(KILLED));
}

/** Ends the process with the first test that fails, because a mutant that one test notices is killed. */
export default class FirstFailure {
  onTestCaseResult(_test, { status, fullName }) {
    if (status === 'failed') endBecauseOf(fullName);
  }

  onTestFileResult({ path }, { numFailingTests, testExecError }) {
    if (numFailingTests > 0 || testExecError) endBecauseOf(path);
  }
}
