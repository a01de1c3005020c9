/** The keys that only `npm start` reads. It passes its whole environment to the replicas. */
const READ_BY_NPM_START = ['APP_REPLICAS', 'APP_LAN_ADDRESS', 'APP_LAN_PORT', 'APP_DATA_DIR'];

/** The keys of the tests. */
const TESTS = /^APP_TEST_/;

/**
 * Returns how many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one word into the
 * other (Damerau-Levenshtein distance, each place changed once).
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

/** Returns the known key that is most similar; null if more than a quarter of the letters would be wrong. */
function nearest(key: string, known: readonly string[]): string | null {
  const ranked = known.map((candidate) => ({ candidate, far: distance(key, candidate) }));
  const best = ranked.sort((a, b) => a.far - b.far)[0];
  return best !== undefined && best.far <= Math.max(2, key.length / 4) ? best.candidate : null;
}

/**
 * Returns a sentence for each key of the environment with this prefix that nothing reads, neither as it is nor as `_FILE`. A
 * misspelt key would otherwise silently leave a default in force. The values are not read.
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
