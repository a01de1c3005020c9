import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { arithmeticTable } from '../growth/arithmetic.mjs';
import { pictureOf } from '../growth/picture.mjs';
import { growthMarkdown } from '../growth/table.mjs';

const README = new URL('../README.md', import.meta.url);
const DEPLOY = new URL('../../../deploy/', import.meta.url);
const PAGE = new URL('capacity.md', DEPLOY);
const FIGURES = new URL('capacity/growth.json', DEPLOY);
const PICTURE = new URL('capacity/growth.svg', DEPLOY);

/** Puts texts between the marks of a page that have their names. */
function write(file, parts) {
  let page = readFileSync(file, 'utf8');
  for (const [name, text] of Object.entries(parts)) {
    const [begin, end] = [`<!-- measured:${name} -->`, `<!-- /measured:${name} -->`];
    const [before, rest] = page.split(begin);
    if (rest === undefined || !rest.includes(end)) throw new Error(`${file.pathname} has no part ${name}`);
    page = `${before}${begin}\n\n${text}\n\n${rest.slice(rest.indexOf(end))}`;
  }
  writeFileSync(file, page);
}

/** Only meaningful digits are kept; the rest would change with every run. */
const short = (_key, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);

/** Writes what `npm run bench` prints into README.md. */
export const publishTable = (text) => write(README, { table: `\`\`\`\n${text}\n\`\`\`` });

/** Writes table, arithmetic and picture of `deploy/capacity.md`, and the figures that they are made of. */
export function publishGrowth({ machine, growth }) {
  const where = `${machine.date}, ${machine.cpus} x ${machine.cpu}, Node ${machine.node}, Redis ${machine.redis}`;
  const disturbed = Math.max(...growth.map(({ messages, storm }) => Math.max(messages.others, storm.others)));
  const taken = `${where}; others took at most ${(disturbed * 100).toFixed(0)} % of the machine.`;
  mkdirSync(new URL('capacity/', DEPLOY), { recursive: true });
  writeFileSync(FIGURES, `${JSON.stringify({ machine, growth }, short, 2)}\n`);
  writeFileSync(PICTURE, pictureOf(growth, where));
  write(PAGE, { growth: `${taken}\n\n${growthMarkdown(growth)}`, arithmetic: arithmeticTable(growth) });
}
