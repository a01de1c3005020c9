/** Read by `npm start` alone, which hands its whole environment to the replicas. */
const READ_BY_NPM_START = ['APP_REPLICAS', 'APP_LAN_ADDRESS', 'APP_LAN_PORT', 'APP_DATA_DIR'];

/** The tests' own. */
const TESTS = /^APP_TEST_/;

/**
 * How many letters have to be inserted, left out, replaced or exchanged with their neighbour to make one word of the other
 * (Damerau-Levenshtein distance, each place changed once).
 */
function distance(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const differs = Number(one[i - 1] !== other[j - 1]);
      const at = (cells: number[], column: number) => cells[column] ?? Number.POSITIVE_INFINITY;
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + differs);
      const exchanged = i > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (exchanged) cost = Math.min(cost, at(before, j - 2) + 1);
      row.push(cost);
    }
    [before, last] = [last, row];
  }
  return last[other.length] ?? Number.POSITIVE_INFINITY;
}

/** The known key that is most like this one; null where none is like it: more than a fourth of it would be wrong. */
function nearest(key: string, known: readonly string[]): string | null {
  const ranked = known.map((candidate) => ({ candidate, far: distance(key, candidate) }));
  const best = ranked.sort((a, b) => a.far - b.far)[0];
  return best !== undefined && best.far <= Math.max(2, key.length / 4) ? best.candidate : null;
}

/**
 * A sentence for each key of the environment with this prefix that nobody reads, neither by itself nor as `_FILE`: a
 * misspelt key is otherwise a default that nobody chose. The values are not looked at.
 */
export function unknownKeys(
  env: Readonly<Record<string, string | undefined>>,
  { prefix, known }: { prefix: string; known: readonly string[] },
): string[] {
  const all = known.filter((key) => key.startsWith(prefix)).flatMap((key) => [key, `${key}_FILE`]);
  return Object.keys(env)
    .filter(
      (key) => key.startsWith(prefix) && !all.includes(key) && !READ_BY_NPM_START.includes(key) && !TESTS.test(key),
    )
    .sort()
    .map((key) => {
      const meant = nearest(key, all);
      return `${key} is not known${meant === null ? '' : `; did you mean ${meant}?`}`;
    });
}
