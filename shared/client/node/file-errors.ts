export const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

/** Returns null if `work` throws an error with this code. */
function unless<T>(code: string, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) === code) return null;
    throw error;
  }
}

/** Returns null if the name is taken, by a link too, wherever it leads. */
export const unlessTaken = <T>(take: () => T): T | null => unless('EEXIST', take);

/** Returns null if nothing has that name. */
export const unlessGone = <T>(work: () => T): T | null => unless('ENOENT', work);

const UNSYNCED: readonly unknown[] = ['EPERM', 'EINVAL', 'ENOTSUP', 'EBADF', 'EACCES'];

/**
 * Returns whether the error says that the system cannot sync a folder: Windows opens one and says `EPERM`, some file
 * systems say the others.
 */
export const isUnsynced = (error: unknown): boolean => UNSYNCED.includes(codeOf(error));

const REFUSED_NAMES: readonly unknown[] = ['EINVAL', 'EILSEQ', 'ENAMETOOLONG'];

/** Returns whether the error says that the file system takes no such name. */
export const isRefusedName = (error: unknown): boolean => REFUSED_NAMES.includes(codeOf(error));
