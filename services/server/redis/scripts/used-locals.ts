const withoutComments = (lua: string): string => lua.replaceAll(/ *--[^\n]*/g, '');

const names = (lua: string): Set<string> => new Set(lua.match(/\w+/g));

/** Constants and functions of chunks: each begins with `local` at the start of a line, and goes on until the next. */
function localsOf(lua: string): { defines: string[]; text: string }[] {
  const texts = withoutComments(lua).split(/^(?=local )/m);
  return texts
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const [, defined] = /^local (?:function )?(\w+(?:, \w+)*)/.exec(text) ?? [];
      if (defined === undefined || /\n(?!end\b)\w/.test(text))
        throw new Error(`a chunk has more than locals: ${text.slice(0, 80)}`);
      return { defines: defined.split(', '), text };
    });
}

/**
 * What of `chunks` the text `body` needs, directly or through another one, in its order. The store makes every function of
 * a script anew with each call, which took an eighth of the time of an accepted message.
 */
export function usedLocals(chunks: string, body: string): string {
  const locals = localsOf(chunks);
  const wanted = names(withoutComments(body));
  const used = new Set<(typeof locals)[number]>();
  // A local is seen only by what stands below it.
  for (const one of locals.toReversed()) {
    if (!one.defines.some((name) => wanted.has(name))) continue;
    used.add(one);
    for (const name of names(one.text)) wanted.add(name);
  }
  return locals
    .filter((one) => used.has(one))
    .map(({ text }) => text.trimEnd())
    .join('\n');
}
