import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from '../local/setup/tree.mjs';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** Returns the folder of a module's package, relative to the top; null for one of Baton's own modules. */
function packageOf(module) {
  const [, folder] = /^((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(relative(ROOT, module)) ?? [];
  return folder ?? null;
}

function textOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  const texts = readdirSync(join(ROOT, folder))
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim());
  return [`${name} ${version} (${license ?? 'no licence named'})`, ...texts].join('\n\n');
}

/** Returns the folders of the packages of these modules, relative to the top. */
export const packagesOf = (modules) =>
  [...new Set(modules.map(packageOf))]
    .filter((folder) => folder !== null && existsSync(join(ROOT, folder, 'package.json')))
    .sort();

/**
 * Returns one text with the licences of all packages of these modules, as most licences demand. `what` names what
 * contains them, as the subject of a sentence.
 */
export function licencesOf(modules, what = "Baton's services contain") {
  const folders = packagesOf(modules);
  const head = `${what} these ${folders.length} packages, unchanged. Their sources are at npm under name and version.`;
  return `${[head, ...folders.map(textOf)].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
