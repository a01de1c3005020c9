const withoutComments = (lua: string): string => lua.replaceAll(/ *--[^\n]*/g, '');

const names = (lua: string): Set<string> => new Set(lua.match(/\w+/g));

interface Local {
  defines: string[];
  text: string;
}

/** Constants and functions of chunks: each begins with `local` at the start of a line, and goes on until the next. */
function localsOf(lua: string): Local[] {
  const texts = withoutComments(lua).split(/^(?=local )/m);
  return texts
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const [, defined] = /^local (?:function )?(\w+(?:, \w+)*)/.exec(text) ?? [];
      if (defined === undefined || /\n(?!end\b)\w/.test(text))
        throw new Error(`a chunk has more than locals: ${text.slice(0, 80)}`);
      return { defines: defined.split(', '), text: text.trimEnd() };
    });
}

/** The locals that such a text defines. */
export const namesDefinedBy = (lua: string): Set<string> => new Set(localsOf(lua).flatMap(({ defines }) => defines));

/** The line that begins a function, with its parameters. */
const FUNCTION = /^local function \w+\(([^)]*)\)\n/;

/**
 * Moves a function that the script does not name, and one other function alone, to the beginning of that one, so that it is
 * made when it may be called. Not where a parameter there would hide what it names.
 */
function nested(locals: readonly Local[], body: Set<string>): Local[] {
  const left = [...locals];
  for (let i = left.length - 1; i >= 0; i--) {
    const { defines, text } = left[i] as Local;
    const [name = ''] = defines;
    if (!FUNCTION.test(text) || body.has(name)) continue;
    const [user, ...others] = left.slice(i + 1).filter((one) => names(one.text).has(name));
    const [line, parameters = ''] = FUNCTION.exec(user?.text ?? '') ?? [];
    if (user === undefined || others.length > 0 || line === undefined) continue;
    const own = names(FUNCTION.exec(text)?.[1] ?? '');
    const hides = [...names(parameters)].some((word) => names(text).has(word) && !own.has(word));
    if (hides) continue;
    left[left.indexOf(user)] = { ...user, text: `${line}${text}\n${user.text.slice(line.length)}` };
    left.splice(i, 1);
  }
  return left;
}

/**
 * What of `chunks` the text `body` needs, directly or through another one, in its order, but for those of these names, which
 * are `there` already. The store makes every function of a script anew with each call, which took an eighth of the time of an
 * accepted message.
 */
export function usedLocals(chunks: string, body: string, there: ReadonlySet<string> = new Set()): string {
  const locals = localsOf(chunks).filter(({ defines }) => !defines.some((name) => there.has(name)));
  const named = names(withoutComments(body));
  const wanted = new Set(named);
  const used = new Set<Local>();
  // A local is seen only by what stands below it.
  for (const one of locals.toReversed()) {
    if (!one.defines.some((name) => wanted.has(name))) continue;
    used.add(one);
    for (const name of names(one.text)) wanted.add(name);
  }
  return nested([...used].toReversed(), named)
    .map(({ text }) => text)
    .join('\n');
}

/** A line that defines a constant: a truth value, a number, or a sum of numbers and limits. Its name has several words. */
const CONSTANT = /^local ([A-Z]+(?:_[A-Z]+)+) = (true|false|(?:\d+|LIMITS\.\w+)(?: [*+-] (?:\d+|LIMITS\.\w+))*)\n/m;

/**
 * Puts such constants in place of their names. As locals each is made anew with each call, and once more for every function
 * that names it.
 */
export function withoutConstants(lua: string): string {
  let text = lua;
  for (;;) {
    const [line, name, value] = CONSTANT.exec(text) ?? [];
    if (line === undefined || name === undefined || value === undefined) return text;
    const word = new RegExp(`\\b${name}\\b`, 'g');
    text = text.replace(line, '').replaceAll(word, value.includes(' ') ? `(${value})` : value);
  }
}
