export const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Null where what it takes or asks for has an error with this code. */
function unless<T>(code: string, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) === code) return null;
    throw error;
  }
}

/** Null where something has that name; a link too, wherever it leads. */
export const unlessTaken = <T>(take: () => T): T | null => unless('EEXIST', take);

/** Null where nothing has that name. */
export const unlessGone = <T>(work: () => T): T | null => unless('ENOENT', work);
