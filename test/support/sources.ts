import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The services and their shared code, with the beginning of the paths of each. */
const FOLDERS = [
  ['services/', ''],
  ['shared/service-kit/', 'service-kit/'],
] as const;

export interface Source {
  /** The path from its folder on, as `sync/main.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Removes comments, because their words are not code. */
const code = (path: string, text: string): string =>
  path.endsWith('.lua')
    ? text.replace(/--.*$/gm, '')
    : text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** Returns every TypeScript and Lua file of the services. */
export function serviceSources(): Source[] {
  return FOLDERS.flatMap(([folder, prefix]) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|lua)$/.test(path))
      .map((path) => ({ path: prefix + path, text: code(path, readFileSync(join(ROOT, folder, path), 'utf8')) })),
  );
}

/** Returns the first group of every match of `pattern` (with flag g) in all files of `sources`. */
export const wordsIn = (sources: Source[], pattern: RegExp): Set<string> =>
  new Set(sources.flatMap(({ text }) => [...text.matchAll(pattern)].map((match) => match[1] as string)));
