import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildOrExit } from '../build/build.mjs';
import { isStarted } from '../local/setup/command.mjs';
import { installPackages, requireNode } from '../local/setup/setup.mjs';
import { ROOT } from '../local/setup/tree.mjs';
import { GENERATED } from './generated.mjs';

/** Imports a module of the build. */
const built = (path) => import(`${ROOT}dist/${path}`);

const textOf = (file) => (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '');

/** Returns the file's text with `text` between the markers of `section`. Throws when the markers are missing. */
function replaceSection({ file, section, whole, text }) {
  const [begin, end] = [`<!-- generated:${section} -->`, `<!-- /generated:${section} -->`];
  const [from, to] = [whole.indexOf(begin), whole.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no ${begin} ... ${end}`);
  return `${whole.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${whole.slice(to)}`;
}

/** Returns every generated file as `{file, is, should}`. Needs the build. */
async function compare() {
  const files = new Map();
  for (const { file, section, make } of GENERATED) {
    const is = textOf(file);
    const text = await make({ built });
    const whole = files.get(file)?.should ?? is;
    files.set(file, {
      file,
      is,
      should: section ? replaceSection({ file, section, whole, text }) : `${text.trim()}\n`,
    });
  }
  return [...files.values()];
}

/** Returns the files whose generated text differs from what the code now gives. */
export async function findDrift() {
  return (await compare()).filter(({ is, should }) => is !== should).map(({ file }) => file);
}

if (isStarted(import.meta.url)) {
  requireNode();
  installPackages();
  await buildOrExit();
  for (const { file, is, should } of await compare()) {
    if (is === should) continue;
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), should);
    process.stderr.write(`wrote ${file}\n`);
  }
}
