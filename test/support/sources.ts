import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The services, and what they share; what the paths of each begin with. */
const FOLDERS = [
  ['services/', ''],
  ['shared/service-kit/', 'service-kit/'],
] as const;

export interface Source {
  /** From the folder that it is of on, as `sync/main.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Without comments, whose words are nobody's code. */
const code = (path: string, text: string): string =>
  path.endsWith('.lua')
    ? text.replace(/--.*$/gm, '')
    : text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** Every TypeScript and Lua file of the services. */
export function serviceSources(): Source[] {
  return FOLDERS.flatMap(([folder, prefix]) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|lua)$/.test(path))
      .map((path) => ({ path: prefix + path, text: code(path, readFileSync(join(ROOT, folder, path), 'utf8')) })),
  );
}

/** The first group of every match of `pattern` (with flag g), in whatever file of `sources`. */
export const wordsIn = (sources: Source[], pattern: RegExp): Set<string> =>
  new Set(sources.flatMap(({ text }) => [...text.matchAll(pattern)].map((match) => match[1] as string)));
