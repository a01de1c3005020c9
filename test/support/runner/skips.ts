interface Runners {
  test: (title: string, body: () => Promise<void>) => void;
  describe: (title: string, body: () => void) => void;
}

/**
 * Leaves tests out; there is no other way. Returns `test` and `describe` that run if this machine meets `condition`.
 * Otherwise they skip, with `reason` ("needs Chromium") where the list at the end of `npm test` finds it. With `CI=true`
 * a skip that `.ci/expected-skips.txt` does not name fails the run.
 */
export function skipUnless(condition: boolean, reason: string): Runners {
  if (condition) return { test, describe };
  const mark = (title: string) => `${title} [skipped: ${reason}]`;
  return {
    test: (title, body) => test.skip(mark(title), body),
    describe: (title, body) => describe.skip(mark(title), body),
  };
}
