import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

/** Folders of one shell, of one run of npx, or of one project. */
const PASSING = /[\\/](?:fnm_multishells|_npx|node_modules[\\/]\.bin)[\\/]|^\/run\//;
/** Homebrew replaces the folder of a version at each upgrade, and keeps a link to the newest one. */
const CELLAR = /^(.*)\/Cellar\/([^/]+)\/[^/]+\/(.*)$/;

function leadsTo(path: string, real: string): boolean {
  try {
    return realpathSync(path) === real;
  } catch {
    return false;
  }
}

/**
 * Returns a path of this Node that still leads to one after an upgrade: a link to it from Homebrew, or from a folder of
 * `PATH`. Without such a link it returns the path of this version.
 */
export function lastingNode(execPath: string, searched = ''): string {
  const real = realpathSync(execPath);
  const [, prefix, formula, rest] = CELLAR.exec(real) ?? [];
  const kept = prefix === undefined ? [] : [`${prefix}/opt/${formula}/${rest}`];
  const name = execPath.slice(execPath.lastIndexOf(sep) + 1);
  const folders = searched.split(delimiter).filter((folder) => folder.startsWith(sep));
  const links = folders.map((folder) => join(folder, name)).filter((path) => path !== real && !PASSING.test(path));
  return [...kept, ...links].find((path) => leadsTo(path, real)) ?? execPath;
}

/** Returns a path of a program that still leads to it after an upgrade; null if npx removes the program again. */
export function lastingProgram(path: string): string | null {
  const real = realpathSync(path);
  if (real.includes(`${sep}_npx${sep}`)) return null;
  return PASSING.test(path) ? real : path;
}

/** Returns those of the paths that lead to nothing. */
export const gone = (paths: readonly string[]): string[] => paths.filter((path) => !existsSync(path));
