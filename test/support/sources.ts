import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SERVICES = fileURLToPath(new URL('../../services/', import.meta.url));

export interface Source {
  /** From services/ on. */
  readonly path: string;
  readonly text: string;
}

/** Without comments, whose words are nobody's code. */
const code = (path: string, text: string): string =>
  path.endsWith('.lua')
    ? text.replace(/--.*$/gm, '')
    : text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

/** Every TypeScript and Lua file under services/. */
export function serviceSources(): Source[] {
  return readdirSync(SERVICES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|lua)$/.test(path))
    .map((path) => ({ path, text: code(path, readFileSync(join(SERVICES, path), 'utf8')) }));
}

/** The first group of every match of `pattern` (with flag g), in whatever file of `sources`. */
export const wordsIn = (sources: Source[], pattern: RegExp): Set<string> =>
  new Set(sources.flatMap(({ text }) => [...text.matchAll(pattern)].map((match) => match[1] as string)));
