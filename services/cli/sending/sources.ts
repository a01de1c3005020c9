import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FileSource } from '../../../shared/client/index.ts';
import { fileSource, findSources, type FoundSources, type PackSource } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../failure.ts';
import { oneLine } from '../output.ts';
import type { Unfinished } from '../unfinished.ts';
import { excludedBy } from './excluding.ts';
import { ownFoldersIn } from './own-folder.ts';

export type Source = FileSource | PackSource;

export const NOTHING_ODD: Odd = { renamed: [], skipped: [] };

/** The most files of one offer. */
const FILES_A_TRANSFER = 1_000;

/** Divides the sources into pieces of a thousand files, the most that an offer takes. */
export const piecesOf = (sources: readonly Source[]): Source[][] =>
  Array.from({ length: Math.ceil(sources.length / FILES_A_TRANSFER) }, (_, piece) =>
    sources.slice(piece * FILES_A_TRANSFER, (piece + 1) * FILES_A_TRANSFER),
  );

/** Returns the sources: standard input first, then the paths. */
export async function sourcesOf({
  paths,
  spool,
  packs = false,
  excludes = [],
}: Pick<Unfinished, 'paths' | 'spool' | 'packs' | 'excludes'>) {
  const own = await ownFoldersIn(paths);
  const isOwn = (path: string, root: string): boolean => own.some((one) => root === one.root && path === one.below);
  const isLeftOut = excludedBy(excludes);
  const isExcluded = (path: string, root: string): boolean => isOwn(path, root) || isLeftOut(path);
  const found = await findSources(paths, { packs, isExcluded }).catch(async (error: unknown) => {
    const said = error instanceof Error ? error : new Error(String(error));
    const { code, path = '' } = said as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new CliError(oneLine(said.message), { code: 'source_failed' });
    const given = paths.find((one) => resolve(one) === path) ?? path;
    throw new CliError(`${oneLine(given)} does not exist.`, { status: EXIT.notFound, code: 'not_found' });
  });
  const input: Source[] = spool === null ? [] : [await fileSource(spool.path, { name: spool.name })];
  const skipped: Odd['skipped'] = [...found.skipped, ...own.map(({ path }) => ({ path, why: 'own_keys' as const }))];
  return { ...found, skipped, sources: [...input, ...found.sources] };
}

/** The files that the receiver gets under another name, and those that are not sent. */
export interface Odd extends Pick<FoundSources, 'renamed'> {
  readonly skipped: readonly { readonly path: string; readonly why: keyof typeof WHY }[];
}

const WHY = {
  link: 'a link',
  pipe: 'a pipe',
  socket: 'a socket',
  device: 'a device',
  unreadable: 'it cannot be read',
  empty_folder: 'an empty folder',
  own_keys: 'the session and the keys of this device',
} as const satisfies Record<FoundSources['skipped'][number]['why'] | 'own_keys', string>;

/** Reports each of them by name, so that nothing is left out silently. */
export function sayOdd({ output }: Context, { renamed, skipped }: Odd): void {
  const lines = [
    ...skipped.map(({ path, why }) => `Not sent: ${oneLine(path)} (${WHY[why]})`),
    ...renamed.map(({ path, name }) => `Sent under another name: ${oneLine(path)} as ${oneLine(name)}`),
  ];
  if (lines.length > 0) output.note(lines.join('\n'));
}

/** Returns each file that is sent, including those in packs. */
export const filesOf = (sources: readonly Source[]) =>
  sources.flatMap((source): readonly (Source | PackSource['packed'][number])[] =>
    'packed' in source ? source.packed : [source],
  );

/** Returns a key that is the same for the same files in the same state, to the same device. */
export async function keyOf(deviceId: string, paths: readonly string[], sources: readonly Source[]): Promise<string> {
  const lines = [deviceId];
  for (const path of paths) lines.push(`${path} ${(await stat(path).catch(() => null))?.mtimeMs}`);
  for (const file of filesOf(sources)) {
    // The date of the file is in the archive, so it counts.
    lines.push(`${file.name} ${file.size}${'mtimeSeconds' in file ? ` ${file.mtimeSeconds}` : ''}`);
  }
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
