/*
 * Finds the metrics and labels that a query names. It reads only that much of the language; promtool checks the rest.
 */

const TOKEN = /("(?:\\.|[^"\\])*")|(\[[^\]]*\])|([A-Za-z_:][\w:]*)|(\d[\w.]*)|\s+|(.)/gs;
const GROUPING = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', ...GROUPING]);

function tokensOf(expr) {
  const found = [];
  for (const [text, string, range, word] of expr.matchAll(TOKEN)) {
    if (range === undefined && text.trim() !== '')
      found.push({ text, isString: string !== undefined, isWord: word !== undefined });
  }
  return found;
}

/** Returns the words between two brackets, and the position of the closing one. */
function wordsUntil(tokens, from, closing) {
  let at = from;
  const words = [];
  for (; at < tokens.length && tokens[at].text !== closing; at++) if (tokens[at].isWord) words.push(tokens[at].text);
  return { words, at };
}

/** Returns `{metrics: [{name, labels}], labels}`: each metric with the labels queried, and the labels grouped by. */
export function namesIn(expr) {
  const tokens = tokensOf(expr);
  const metrics = [];
  const labels = [];
  for (let i = 0; i < tokens.length; i++) {
    const { text, isWord } = tokens[i];
    const next = tokens[i + 1]?.text;
    if (!isWord) continue;
    if (GROUPING.has(text)) {
      if (next !== '(') continue;
      const { words, at } = wordsUntil(tokens, i + 1, ')');
      labels.push(...words);
      i = at;
    } else if (next === '{') {
      const { words, at } = wordsUntil(tokens, i + 1, '}');
      metrics.push({ name: text, labels: words });
      i = at;
    } else if (next !== '(' && !WORDS.has(text) && !isAggregation(tokens, i)) {
      metrics.push({ name: text, labels: [] });
    }
  }
  return { metrics, labels };
}

/** Whether a word aggregates, as in `sum by (...)`: it stands before a grouping, and no operator stands between. */
const isAggregation = (tokens, i) => ['by', 'without'].includes(tokens[i + 1]?.text);
