import { aligned } from '../report/report.mjs';

const percent = (share) => `${(share * 100).toFixed(1)} %`;

const COLUMNS = [
  ['Redis', ({ layout }) => (layout === 'apart' ? 'own core' : 'same core')],
  ['replicas', ({ replicas }) => String(replicas)],
  ['streams', ({ streams }) => streams.toLocaleString('en')],
  ['messages/s', ({ messages }) => messages.per_second.toFixed(0)],
  ['CPU of replicas a message, us', ({ messages }) => messages.servers_us.toFixed(0)],
  ['of Redis, us', ({ messages }) => messages.redis_us.toFixed(0)],
  ['p99 at that rate, ms', ({ messages }) => messages.p99.toFixed(0)],
  ['connects/s', ({ storm }) => storm.per_second.toFixed(0)],
  ['CPU of replicas a connect, us', ({ storm }) => storm.servers_us.toFixed(0)],
  ['of Redis, us', ({ storm }) => storm.redis_us.toFixed(0)],
  ['quiet: replicas', ({ quiet }) => percent(quiet.servers)],
  ['Redis', ({ quiet }) => percent(quiet.redis)],
  ['KiB a stream: replicas', ({ rss_kib: kib }) => kib.toFixed(1)],
  ['Redis', ({ redis_kib: kib }) => kib.toFixed(1)],
  ['taken by others', (row) => percent(Math.max(row.messages.others, row.storm.others, row.quiet.others))],
];
const HEADS = COLUMNS.map(([title]) => title);
const cellsOf = (row) => COLUMNS.map(([, show]) => show(row));

/** Returns the table as text, with one row for each number of replicas and streams. */
export const growthTable = (growth) => aligned([HEADS, ...growth.map(cellsOf)]);

export function markdownTable(heads, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map((_, i) => (i === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n');
}

/** Returns the same table in Markdown. */
export const growthMarkdown = (growth) => markdownTable(HEADS, growth.map(cellsOf));
