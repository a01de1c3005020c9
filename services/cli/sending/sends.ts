import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { makeUnfinishedSends, type UnfinishedSends } from '../unfinished.ts';

/** Returns the folder with the records of what this device sends. */
export const folderOf = ({ settings }: Pick<Context, 'settings'>): string => join(settings.folder, 'sends');

/** Returns the records of what this device sends. */
export function sendsOf(context: Pick<Context, 'settings'>): UnfinishedSends {
  const folder = folderOf(context);
  return makeUnfinishedSends(folder, () => readdir(folder).catch(() => []));
}
