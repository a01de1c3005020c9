import type { FilesItem } from '../history/database.ts';

/**
 * The most bytes of files that are kept, so that sending resumes by itself after a reload. Beyond it the user chooses the
 * files again.
 */
export const KEPT_SOURCE_BYTES = 32 * 1024 * 1024;

/**
 * Returns the lane of an item, in which items leave in their order. Large ones take time to read, and have their own lane, so
 * that they block no small one.
 */
export const laneOf = ({ thread, totalBytes }: Pick<FilesItem, 'thread' | 'totalBytes'>): string =>
  totalBytes <= KEPT_SOURCE_BYTES ? thread : `${thread}-large`;
