import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arithmeticTable } from './arithmetic.mjs';
import { pictureOf } from './picture.mjs';
import { growthMarkdown } from './table.mjs';

const DEPLOY = new URL('../../../deploy/', import.meta.url);
const PAGE = new URL('capacity.md', DEPLOY);
const FIGURES = new URL('capacity/growth.json', DEPLOY);
const PICTURE = new URL('capacity/growth.svg', DEPLOY);

/** Puts a text between the marks that bear this name. */
function withPart(page, name, text) {
  const [begin, end] = [`<!-- measured:${name} -->`, `<!-- /measured:${name} -->`];
  const [before, rest] = page.split(begin);
  if (rest === undefined || !rest.includes(end)) throw new Error(`deploy/capacity.md has no part ${name}`);
  return `${before}${begin}\n\n${text}\n\n${end}${rest.slice(rest.indexOf(end) + end.length)}`;
}

/** Digits that mean something; the rest would change with every run. */
const short = (_key, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);

/** Writes table, arithmetic and picture of `deploy/capacity.md`, and the figures that they are made of. */
export function publish({ machine, growth }) {
  const where = `${machine.date}, ${machine.cpus} x ${machine.cpu}, Node ${machine.node}, Redis ${machine.redis}`;
  const disturbed = Math.max(...growth.map(({ messages, storm }) => Math.max(messages.others, storm.others)));
  const taken = `${where}; others took at most ${(disturbed * 100).toFixed(0)} % of the machine`;
  mkdirSync(new URL('capacity/', DEPLOY), { recursive: true });
  const rows = growth.map((row) => `  ${JSON.stringify(row, short)}`);
  writeFileSync(FIGURES, `{ "machine": ${JSON.stringify(machine)}, "growth": [\n${rows.join(',\n')}\n] }\n`);
  writeFileSync(PICTURE, pictureOf(growth, where));
  const page = [
    ['growth', `${taken}.\n\n${growthMarkdown(growth)}`],
    ['arithmetic', arithmeticTable(growth)],
  ].reduce((text, [name, part]) => withPart(text, name, part), readFileSync(PAGE, 'utf8'));
  writeFileSync(PAGE, page);
}
