import picomatch from 'picomatch';

/**
 * Returns a test for the entries that `--exclude` leaves out of folders. A pattern without a slash matches a name at any
 * depth. A pattern with a slash matches a path below the folder that is sent. `*`, `?`, `[a-z]`, `{a,b}` and `**` mean
 * what they mean in a shell, and match leading dots.
 */
export function excludedBy(patterns: readonly string[]): (path: string) => boolean {
  const matchers = patterns.map((given) => {
    const pattern = given.replace(/^\.?\/+|\/+$/g, '');
    const matches = picomatch(pattern, { dot: true });
    if (pattern.includes('/')) return matches;
    return (path: string) => matches(path.slice(path.lastIndexOf('/') + 1));
  });
  return (path) => matchers.some((matches) => matches(path));
}
