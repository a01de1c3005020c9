/**
 * Returns the first wanted language that there is; null where there is none. Both are tags (BCP 47). A tag stands for the
 * likely script and region of its language: `zh-TW` is written in traditional characters, so it is not `zh-Hans`, and
 * `pt-PT` is read by whoever reads `pt-BR`.
 */
export function findLanguage<T extends string>(wanted: readonly string[], there: readonly T[]): T | null {
  for (const tag of wanted) {
    const found = there.find((one) => isSameWriting(one, tag));
    if (found !== undefined) return found;
  }
  return null;
}

function isSameWriting(one: string, other: string): boolean {
  try {
    const [a, b] = [new Intl.Locale(one).maximize(), new Intl.Locale(other).maximize()];
    return a.language === b.language && a.script === b.script;
  } catch {
    // A browser or a store may hand over anything.
    return false;
  }
}
