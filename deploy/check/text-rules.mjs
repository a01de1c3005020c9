import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { filesUnder, ROOT } from '../local/setup/tree.mjs';

/*
 * Rules about files that no linter knows. Each returns sentences that say what is wrong.
 */

const CODE = new Set(['.ts', '.mjs', '.js', '.lua']);
const BINARY = /\.(png|ico|jpe?g|webp|woff2?|gz)$/;
const SOURCES = ['services', 'shared', 'deploy', 'test'];

const linesOf = (path) => readFileSync(join(ROOT, path), 'utf8').replace(/\n$/, '').split('\n');

/** Whether a line of a script does something. Header lines do not count. */
const isLuaCode = (line) => line.trim() !== '' && !line.trim().startsWith('--');

function sizeOf(path) {
  if (extname(path) === '.lua') return { lines: linesOf(path).filter(isLuaCode).length, most: 60 };
  return { lines: linesOf(path).length, most: path.startsWith('test/') ? 500 : 350 };
}

/** Finds files that exceed their limit. Such a file hides a second subject. */
export function findLongFiles() {
  return SOURCES.flatMap(filesUnder)
    .filter((path) => CODE.has(extname(path)))
    .map((path) => ({ path, ...sizeOf(path) }))
    .filter(({ lines, most }) => lines > most)
    .map(({ path, lines, most }) => `${path}: ${lines} lines, at most ${most}`);
}

const DRAWERS = /^(utils?|helpers?|common|base|libs?|managers?|misc)$/;

/**
 * Finds file names that say nothing. A file is named by what it knows. Under a name that says nothing, everything
 * collects.
 */
export function findDrawers() {
  return SOURCES.flatMap(filesUnder)
    .filter((path) => path.split(/[/.-]/).some((word) => DRAWERS.test(word)))
    .map((path) => `${path}: a name that says nothing`);
}

/** Finds scripts whose names are not in kebab-case. They are named by object and action: `message-accept.lua`. */
export function findOddScripts() {
  return SOURCES.flatMap(filesUnder)
    .filter((path) => extname(path) === '.lua' && !/^[a-z]+(-[a-z]+)*\.lua$/.test(basename(path)))
    .map((path) => `${path}: not in kebab-case`);
}

/** Lua that a module lends to others, as it exports functions in TypeScript. */
const LENT = new Set([
  'devices/names',
  'presence/ended-routes',
  'presence/presence',
  'presence/version',
  'messages/mail',
  'push/push',
  'push/queue',
  'replicas/liveness',
  'transfers/offers',
]);

/**
 * Scripts that take more than eight keys, because a refused command must leave nothing behind. Each says what the keys
 * beyond eight are for.
 * - `message-accept` (11): `push` and `due` enqueue a push in the step that stores the message, so that no crash
 *   separates the two; `targets` is the list of devices to which remembered answers refer, so that none repeats it.
 * - `transfer-init` (13): `push` and `due` do the same, and `due` holds the end of the offer; `accountRate` bounds the
 *   offers of all devices together; `files` keeps a long list apart, so that one file of it is read without the others;
 *   `sealed` keeps what only `transfer-read` returns.
 * - `stream-open` (9): `invites` says, in the one trip of an opening, whether a new device waits for this one's decision.
 */
const MANY_KEYS = new Set(['message-accept', 'transfer-init', 'stream-open']);
const MOST_KEYS = 8;

/** Finds scripts that take chunks of other modules. General chunks, those of its own module, and lent ones are allowed. */
export function findScriptsThatReach() {
  const scripts = SOURCES.flatMap(filesUnder).filter((path) => extname(path) === '.lua');
  return scripts.flatMap((path) => {
    const module = path.split('/')[2];
    const [, uses = ''] = /^-- uses: (.*)$/m.exec(readFileSync(join(ROOT, path), 'utf8')) ?? [];
    return uses
      .split(' ')
      .filter((chunk) => chunk.includes('/') && !chunk.startsWith(`${module}/`) && !LENT.has(chunk))
      .map((chunk) => `${path}: ${chunk} is another module's own`);
  });
}

/** Finds scripts with more keys than this. Such a script does several things. */
export function findScriptsOfManyKeys() {
  const declared = SOURCES.flatMap(filesUnder).filter((path) => path.endsWith('scripts.ts'));
  return declared.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return [...text.matchAll(/defineScript\('([a-z-]+)', \{.*?keys: \[(.*?)\]/gs)]
      .map(([, name, keys]) => ({ name, count: keys.split(',').filter((key) => key.trim() !== '').length }))
      .filter(({ name, count }) => count > MOST_KEYS && !MANY_KEYS.has(name))
      .map(({ name, count }) => `${path}: ${name} takes ${count} keys, at most ${MOST_KEYS}`);
  });
}

/** Patterns that tie a text to one machine or one network. */
const LOCAL = [
  [/(?<![\w.])\/(work|root)\//, 'a path of one machine'],
  [/\bregistry\.[\w-]+\.[a-z]|"resolved": "https?:/, 'the host of a package registry'],
];

/** Finds such texts, because the repository must work wherever it is checked out. */
export function findLocalWords() {
  return filesUnder()
    .filter((path) => !BINARY.test(path))
    .flatMap((path) => linesOf(path).map((text, i) => ({ at: `${path}:${i + 1}`, text })))
    .flatMap(({ at, text }) => LOCAL.filter(([word]) => word.test(text)).map(([, what]) => `${at}: ${what}`));
}

const GLOSSARY = 'services/GLOSSARY.md';
/** Returns the words that the glossary has retired: the first column of its second table. */
function retiredWords() {
  const [, rows = ''] = /^\| retired \|.*\n\|.*\n((?:\|.*\n)*)/m.exec(readFileSync(join(ROOT, GLOSSARY), 'utf8')) ?? [];
  const words = [...rows.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell]) => cell.split(', '));
  return new Set(words.map((word) => word.trim()));
}

/** Returns the words of a name in camelCase, PascalCase, kebab-case or with underlines, in singular and plural. */
const wordsOf = (name) =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .flatMap((word) => [word, word.replace(/s$/, '')]);

/** Words that are retired only as names. In a sentence each of them also has its ordinary meaning. */
const ORDINARY = new Set(['room', 'fact']);

/** Comments and quoted texts, which contain no names. */
const NO_NAMES = {
  script: /\/\*.*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/gs,
  lua: /--[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g,
};

/** Returns the name of a file, and every name in its code: exported, private or local. */
function namesOf(path) {
  const kind = extname(path) === '.lua' ? 'lua' : 'script';
  if (!CODE.has(extname(path))) return path.split('/');
  const code = readFileSync(join(ROOT, path), 'utf8').replaceAll(NO_NAMES[kind], ' ');
  return [...path.split('/'), ...new Set(code.match(/[A-Za-z_$][\w$]*/g))];
}

const PROSE = ['services', 'shared', 'deploy', 'helm'];

/** Returns the retired words in comments, texts and documents, except in the tables of the glossary itself. */
function retiredInText(path, retired) {
  if (BINARY.test(path)) return [];
  const lines = path === GLOSSARY ? linesOf(path).filter((line) => !line.startsWith('| ')) : linesOf(path);
  return lines.flatMap((line) => (line.toLowerCase().match(/\b[a-z]+\b/g) ?? []).filter((word) => retired.has(word)));
}

/** Finds retired words in files, in names of the code, and in sentences that are shipped. */
export function findRetiredWords() {
  const retired = retiredWords();
  if (retired.size === 0) return [`${GLOSSARY}: the table of retired words is missing`];
  const inProse = new Set([...retired].filter((word) => !ORDINARY.has(word)));
  return SOURCES.flatMap(filesUnder)
    .concat(filesUnder('helm'))
    .flatMap((path) => {
      const named = namesOf(path).flatMap((name) => wordsOf(name).filter((word) => retired.has(word)));
      const said = PROSE.includes(path.split('/')[0]) ? retiredInText(path, inProse) : [];
      return [...new Set([...named, ...said])].map(
        (word) => `${path}: "${word}" is a retired word (${GLOSSARY}, "Words")`,
      );
    });
}

/** The beginning of a sentence in a comment or a document that puts its subject last. */
const SUBJECT_LAST = /(?:(?:\/\/|\*|--|#|\{)\s*|[.:;?] |\| |^)(Of|Whose) [a-z]/;

/** Finds such sentences. A reader has to read them twice. */
export function findSubjectsLast() {
  return filesUnder()
    .filter((path) => !BINARY.test(path) && path !== 'LICENSE')
    .flatMap((path) => linesOf(path).map((text, i) => ({ at: `${path}:${i + 1}`, word: SUBJECT_LAST.exec(text)?.[1] })))
    .filter(({ word }) => word !== undefined)
    .map(({ at, word }) => `${at}: a sentence begins with "${word}"`);
}
