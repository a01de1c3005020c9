import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { LIMITS } from '../../../contract/limits.ts';
import type { Registries } from './script.ts';
import type { Word } from './script-values.ts';

/** Returns the Lua form of a name: `ttlMs` becomes `ttl_ms`. */
const luaNameOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a value as a Lua literal. */
const literal = (value: Word | boolean): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** Replaces each `<registry>.<name>` by the value that it has in TypeScript. */
function bindNames(lua: string, registries: Registries): string {
  const names = new RegExp(`\\b(${Object.keys(registries).join('|')})\\.(\\w+)`, 'g');
  return lua.replaceAll(names, (word, registry: string, name: string) => {
    const value = registries[registry]?.[name];
    if (value === undefined) throw new Error(`a script names ${word}, which there is not`);
    return literal(value);
  });
}

/** The functions that convert arguments. Only those that a script uses are put in front of it. */
const MAKERS = {
  set_of: `local function set_of(words)
  local set = {}
  for word in string.gmatch(words, '[^\\n]+') do set[word] = true end
  return set
end`,
  rest_from: `local function rest_from(first)
  local rest = {}
  for i = first, #ARGV do rest[i - first + 1] = ARGV[i] end
  return rest
end`,
};

const WORDS_OF_LUA = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);

/**
 * Reads the chunks that a script's `-- uses:` line names, the only way in which scripts share code. `clock` is a common
 * chunk in `redis/prelude/`; `push/jobs` is a chunk in the `prelude/` of the module `push`.
 */
function chunksOf(lua: string, file: URL): string[] {
  const uses = /^-- uses: (.*)$/m.exec(lua)?.[1]?.split(' ') ?? [];
  return uses.map((name) => {
    const [module, chunk] = name.includes('/') ? name.split('/') : ['redis', name];
    return readFileSync(new URL(`../../${module}/prelude/${chunk}.lua`, file), 'utf8');
  });
}

/** Throws for an argument whose name would hide a function of a chunk, be hidden in the script, or is a Lua keyword. */
function checkNames(names: readonly string[], chunks: readonly string[], body: string, file: URL): void {
  const own = [...body.matchAll(/^local (?:function )?(\w+(?:, \w+)*)/gm)].flatMap(([, found = '']) =>
    found.split(', '),
  );
  const taken = [
    ...chunks.flatMap((chunk) => [...chunk.matchAll(/^local function (\w+)/gm)].map(([, name]) => name)),
    ...own,
  ];
  const wrong = names.filter((name) => WORDS_OF_LUA.has(name) || name === 'keys' || taken.includes(name));
  if (wrong.length > 0) throw new Error(`${file.pathname}: ${wrong.join(', ')} cannot be the name of an argument`);
}

/** Returns the text of a script that Redis 7 runs even at `maxmemory`. Redis reads the flags only in the first line. */
export const runningWhenFull = (text: string): string => `#!lua flags=allow-oom\n${text}`;

interface TextParts {
  file: URL;
  keys: readonly string[];
  locals: ReadonlyMap<string, string>;
  constants: Readonly<Record<string, Word>>;
  registries: Registries;
  announces: boolean;
  runsWhenFull: boolean;
  publishInScript: boolean;
}

/** Returns the whole text of a script: constants, chunks, keys and arguments as locals, then its file. */
export function scriptText(parts: TextParts): string {
  const { file, keys, locals, constants, registries, announces, runsWhenFull, publishInScript } = parts;
  const body = readFileSync(file, 'utf8');
  const chunks = chunksOf(body, file);
  const names = [...locals.keys()].map(luaNameOf);
  checkNames(names, chunks, body, file);
  const bound = Object.entries({ PUBLISH_IN_SCRIPT: publishInScript, ...constants });
  const values = [...locals.values()];
  const makers = Object.entries(MAKERS).filter(([maker]) => values.some((value) => value.startsWith(maker)));
  const shared = [
    ...bound.map(([name, value]) => `local ${name} = ${literal(value)}`),
    ...chunks,
    ...makers.map(([, lua]) => lua),
  ];
  const own = [
    `local keys = { ${keys.map((key, i) => `${luaNameOf(key)} = KEYS[${i + 1}]`).join(', ')} }`,
    ...(names.length > 0 ? [`local ${names.join(', ')} = ${values.join(', ')}`] : []),
    body,
  ];
  // The name identifies the script in the store's slow log and in `MONITOR`.
  const named = `-- ${basename(file.pathname, '.lua')}`;
  // The reply of a script that announces gets its announcements added.
  const all = announces
    ? [named, ...shared, 'local function run()', ...own, 'end', 'return with_announcements(run())']
    : [named, ...shared, ...own];
  const text = bindNames(all.join('\n'), { LIMITS, ...registries });
  return runsWhenFull ? runningWhenFull(text) : text;
}
