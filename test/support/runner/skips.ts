interface Runners {
  test: (title: string, body: () => Promise<void>) => void;
  describe: (title: string, body: () => void) => void;
}

/**
 * The one way to leave a test out. Gives `test` and `describe` that run when this machine meets `condition`, and that
 * skip otherwise, with `reason` ("needs Chromium") where the list at the end of `npm test` finds it. With `CI=true` a
 * skip that `.ci/expected-skips.txt` does not name fails the run.
 */
export function skipUnless(condition: boolean, reason: string): Runners {
  if (condition) return { test, describe };
  const mark = (title: string) => `${title} [skipped: ${reason}]`;
  return {
    test: (title, body) => test.skip(mark(title), body),
    describe: (title, body) => describe.skip(mark(title), body),
  };
}
