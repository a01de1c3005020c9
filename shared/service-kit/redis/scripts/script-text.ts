import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { LIMITS } from '../../../contract/limits.ts';
import type { Registries } from './script.ts';
import type { Word } from './script-values.ts';

/** `ttlMs` here is `ttl_ms` in Lua. */
const luaNameOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** As a literal of Lua. */
const literal = (value: Word | boolean): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** Puts the values in place of `<registry>.<name>`, which are what they are on this side. */
function bindNames(lua: string, registries: Registries): string {
  const names = new RegExp(`\\b(${Object.keys(registries).join('|')})\\.(\\w+)`, 'g');
  return lua.replaceAll(names, (word, registry: string, name: string) => {
    const value = registries[registry]?.[name];
    if (value === undefined) throw new Error(`a script names ${word}, which there is not`);
    return literal(value);
  });
}

/** What arguments are made with; only those that occur are put in front. */
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
 * The chunks that a script's `-- uses:` line names, the only way in which scripts share code: `clock` is one for all in
 * `redis/prelude/`, `push/jobs` one that the module `push` has in its own `prelude/`.
 */
function chunksOf(lua: string, file: URL): string[] {
  const uses = /^-- uses: (.*)$/m.exec(lua)?.[1]?.split(' ') ?? [];
  return uses.map((name) => {
    const [module, chunk] = name.includes('/') ? name.split('/') : ['redis', name];
    return readFileSync(new URL(`../../${module}/prelude/${chunk}.lua`, file), 'utf8');
  });
}

/** A local of this name would hide a function of a chunk, or be hidden in the script, or is a word of the language. */
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

/** The text of a script that Redis 7 carries out also at `maxmemory`: it reads the flags in the first line alone. */
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

/** The whole text of a script: constants, chunks, keys and arguments as locals, then what its file says. */
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
  // The name is so that it is known in the store's slow log and in `MONITOR`.
  const named = `-- ${basename(file.pathname, '.lua')}`;
  // The answer of a script that announces is completed.
  const all = announces
    ? [named, ...shared, 'local function run()', ...own, 'end', 'return with_announcements(run())']
    : [named, ...shared, ...own];
  const text = bindNames(all.join('\n'), { LIMITS, ...registries });
  return runsWhenFull ? runningWhenFull(text) : text;
}
