import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from '../local/setup/tree.mjs';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

/** The folder of the package that a module belongs to, relative to the top; null for a module of our own. */
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

/** One text with the licences of every package of which one of these modules comes; most licences ask for that. */
export function licencesOf(modules) {
  const folders = [...new Set(modules.map(packageOf))].filter(
    (folder) => folder !== null && existsSync(join(ROOT, folder, 'package.json')),
  );
  const head = `Baton's services contain these ${folders.length} packages, unchanged. Their sources are at npm under name and version.`;
  return `${[head, ...folders.sort().map(textOf)].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
