import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the checkout. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Folders that tools and people leave in a checkout. They are never part of the repository's text. */
const NOT_OURS = new Set(['.git', '.baton', 'node_modules', 'dist', 'coverage', '.hypothesis']);

/** Returns every file under `folder`, as sorted paths relative to the top. Empty when the folder does not exist. */
export function filesUnder(folder = '.') {
  const found = [];
  const walk = (at) => {
    for (const entry of readdirSync(join(ROOT, at), { withFileTypes: true })) {
      if (NOT_OURS.has(entry.name)) continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) found.push(path);
    }
  };
  try {
    walk(folder);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return found.sort();
}
