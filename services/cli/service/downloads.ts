import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { configHome } from '../settings.ts';

/** Its only form: a path in quotes that is absolute, or begins with `$HOME/` (user-dirs.dirs(5)). */
const LINE = /^[ \t]*XDG_DOWNLOAD_DIR[ \t]*=[ \t]*"(\$HOME(?=\/|")|(?=\/))((?:[^"\\]|\\.)*)"/gm;

/**
 * Returns the user's folder for downloads. On Linux it may have a translated name, which the file `user-dirs.dirs` says. A
 * folder that was switched off there is the home folder itself, where we put no files.
 */
export function downloadsFolder(platform: NodeJS.Platform): string {
  const usual = join(homedir(), 'Downloads');
  if (platform !== 'linux') return usual;
  try {
    const found = [...readFileSync(join(configHome(), 'user-dirs.dirs'), 'utf8').matchAll(LINE)].at(-1);
    if (found === undefined) return usual;
    const [, home = '', rest = ''] = found;
    const folder = resolve(join(home === '' ? '/' : homedir(), rest.replace(/\\(.)/g, '$1')));
    return folder === resolve(homedir()) ? usual : folder;
  } catch {
    return usual;
  }
}
