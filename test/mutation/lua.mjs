/*
 * Makes mutants of a Lua script: boundaries and comparisons, `and` and `or`, conditions, numbers, booleans, flags,
 * arithmetic, removed statements (writes, EXPIRE, announcements, assignments), returns. `makeMutant` builds one from a
 * place.
 */
const TOKEN =
  /--[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\d+(?:\.\d+)?|[A-Za-z_]\w*|==|~=|<=|>=|\.\.|[<>+\-*/%#=(){}[\].,:;]/g;

const SWAPS = new Map([
  ['<', ['<=']],
  ['<=', ['<']],
  ['>', ['>=']],
  ['>=', ['>']],
  ['==', ['~=']],
  ['~=', ['==']],
  ['and', ['or']],
  ['or', ['and']],
  ['true', ['false']],
  ['false', ['true']],
  ['+', ['-']],
  ['*', ['/']],
  ['max', ['min']],
  ['min', ['max']],
  ["'0'", ["'1'"]],
  ["'1'", ["'0'"]],
]);
const COUNTED = new Set(['<', '<=', '>', '>=', '==', '~=', '+', '-']);
/** Matches the end of an operand, after which a minus subtracts. */
const ENDS_OPERAND = /^(?:[\w)\]}'"].*)$/;
const WORDS = new Set(['and', 'or', 'not', 'return', 'if', 'elseif', 'while', 'then', 'do', 'in']);

const tokensOf = (text) =>
  [...text.matchAll(TOKEN)]
    .map((found) => ({ word: found[0], start: found.index, end: found.index + found[0].length }))
    .filter(({ word }) => !word.startsWith('--'));

function replacementsOf(tokens, at) {
  const { word } = tokens[at];
  const before = tokens[at - 1]?.word ?? '';
  const after = tokens[at + 1]?.word ?? '';
  if (/^\d/.test(word)) {
    const isCounted = COUNTED.has(before) || COUNTED.has(after);
    if (Number(word) >= 100) return [String(Number(word) * 2)];
    return [String(Number(word) + 1), ...(isCounted && Number(word) > 0 ? [String(Number(word) - 1)] : [])];
  }
  if (word === '-') return ENDS_OPERAND.test(before) && !WORDS.has(before) ? ['+'] : [];
  if (word === 'not') return [''];
  // The name of a field is not an operator.
  if (before === '.' && word !== 'max' && word !== 'min') return [];
  return SWAPS.get(word) ?? [];
}

/** Yields conditions without any operator. Conditions with one have other mutants. */
function* conditions(text) {
  for (const found of text.matchAll(/\b(?:if|elseif|while) (.+?) (?:then|do)\b/g)) {
    const [all, condition] = found;
    if (/[<>=~]|\b(?:and|or|not|true|false)\b/.test(condition)) continue;
    const start = found.index + all.indexOf(condition);
    yield { start, end: start + condition.length, to: `not (${condition})` };
  }
}

/** Returns the end of the call or table that begins at `from`; -1 if the text ends before. */
function endOfBrackets(text, from) {
  let depth = 0;
  for (const { word, start } of tokensOf(text.slice(from))) {
    if ('({['.includes(word)) depth += 1;
    if (!')}]'.includes(word)) continue;
    depth -= 1;
    if (depth === 0) return from + start + 1;
  }
  return -1;
}

/** Yields statements that only call or assign, and the values that functions return. */
function* statements(text) {
  for (const found of text.matchAll(/(^ *|\b(?:then|else|do) )([a-z_]\w*(?:\.\w+)*)\(/gm)) {
    if (/^(?:if|for|while|return|local|elseif|function)$/.test(found[2])) continue;
    const start = found.index + found[1].length;
    const end = endOfBrackets(text, start);
    if (end !== -1 && /^(?:\n| end\b|$)/.test(text.slice(end))) yield { start, end, to: '' };
  }
  for (const found of text.matchAll(/^( *)(?!local\b)[a-z_][\w.]*(?:\[[^\]\n]+\])?(?:, [a-z_][\w.]*)* = [^\n]+$/gm)) {
    if (endsWithItsLine(found[0])) {
      yield { start: found.index + found[1].length, end: found.index + found[0].length, to: '' };
    }
  }
  for (const found of text.matchAll(/\breturn (?!nil\b|true\b|false\b|\{)([^\n]+?)(?= end\b|$)/gm)) {
    if (endsWithItsLine(found[1])) yield { start: found.index, end: found.index + found[0].length, to: 'return nil' };
  }
}

/** Returns whether a line is a whole statement: its brackets are closed, and no operator continues on the next line. */
function endsWithItsLine(line) {
  let depth = 0;
  for (const { word } of tokensOf(line)) depth += '({['.includes(word) ? 1 : ')}]'.includes(word) ? -1 : 0;
  return depth === 0 && !/(?:\b(?:and|or|function.*)|[.,=+])\s*$/.test(line);
}

/** Returns every mutant of a script, as `{start, end, to}`. */
export function mutantsOfLua(text) {
  // The text without comments, in which every place stays where it was.
  const code = text.replaceAll(/'(?:\\.|[^'\\\n])*'|--[^\n]*/g, (part) =>
    part.startsWith('--') ? ' '.repeat(part.length) : part,
  );
  const tokens = tokensOf(code);
  const found = tokens.flatMap(({ start, end }, at) => replacementsOf(tokens, at).map((to) => ({ start, end, to })));
  return [...found, ...conditions(code), ...statements(code)].sort((a, b) => a.start - b.start || a.end - b.end);
}

/**
 * Makes a mutant whose place raises an error. If this one survives too, no test reaches the place. Null if no statement
 * begins there.
 */
export function reachedInLua(text, start) {
  const at = text.lastIndexOf('\n', start - 1) + 1;
  const line = text.slice(at, text.indexOf('\n', at));
  if (/^\s*(?:local function\b|else|end\b|[)}\]]|\.\.|and\b|or\b)/.test(line)) return null;
  return { start: at, end: at, to: "redis.call('reached') " };
}
