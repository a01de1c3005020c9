import { KINDS, OTHERS } from '../rounds/rounds.mjs';

const ms = (value) => `${value.toFixed(2)} ms`;
const micros = (value) => `${value.toFixed(0)} us`;
const rate = (value) => `${value.toFixed(0)}/s`;
const percent = (value) => `${(value * 100).toFixed(1)} %`;
const kib = (value) => `${value.toFixed(1)} KiB`;
const mib = (value) => `${value.toFixed(0)} MiB`;
const seconds = (value) => `${value.toFixed(1)} s`;
const count = (value) => value.toFixed(0);

const DISTURBED = ['others', 'of the machine, taken by others', percent];
const LATENCY = [
  ['p50', 'p50', ms],
  ['p95', 'p95', ms],
  ['p99', 'p99', ms],
];
const COSTS = [
  ['servers_us', 'CPU of both servers a message', micros],
  ['redis_us', 'CPU of Redis a message', micros],
];

/** The rows of a step, by the part that it belongs to. A row without a figure is left out. */
const COLUMNS = {
  messages: [
    ['per_second', 'accepted and delivered', rate],
    ...COSTS,
    ['load_us', 'CPU of the clients a message', micros],
    ...LATENCY,
    ['late_p99', 'load behind its pace, p99', ms],
    DISTURBED,
  ],
  commands: [['servers_us', 'CPU of both servers', micros], ['redis_us', 'CPU of Redis', micros], DISTURBED],
  'fan-out': [
    ['per_second', 'messages delivered to all', rate],
    ['delivered_per_second', 'deliveries', rate],
    ...COSTS,
    ['delivered_us', 'CPU of both servers a delivery', micros],
    ['p50', 'until the last has it, p50', ms],
    ['p99', 'until the last has it, p99', ms],
    DISTURBED,
  ],
  idle: [
    ['rss_kib', 'resident memory a stream', kib],
    ['after_storms_kib', 'the same after the storms', kib],
    ['heap_kib', 'JavaScript heap a stream', kib],
    ['redis_kib', 'memory of Redis a stream', kib],
    ['base_rss_mib', 'resident memory without streams', mib],
    ['servers_share', 'of a processor, both servers', percent],
    ['redis_share', 'of a processor, Redis', percent],
    DISTURBED,
  ],
  storm: [
    ['per_second', 'all cut and live again', rate],
    ['servers_us', 'CPU of both servers a connect', micros],
    ['redis_us', 'CPU of Redis a connect', micros],
    ['refused', 'refused, and tried again', count],
    ['opened_per_second', 'opened for the first time', rate],
    ['lost_seconds', 'one server killed, until all are live', seconds],
    DISTURBED,
  ],
};

const HEAD = ['', 'to the floor', 'to Express', 'to its twin', ...KINDS];
const ratio = (value) => (Number.isFinite(value) ? value.toFixed(2) : '-');

function rowsOf(part, step) {
  const rows = COLUMNS[part]
    .filter(([name]) => step.baton[name] !== undefined)
    .map(([name, title, show]) => [
      `  ${title}`,
      ...OTHERS.map((kind) => (name === 'others' ? '' : ratio(step.ratio[kind][name]))),
      ...KINDS.map((kind) => show(step[kind][name])),
    ]);
  return [HEAD.map((_, column) => (column === 0 ? step.title : '')), ...rows];
}

/** Returns lines of text with aligned columns. */
export function aligned(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = ([title, ...figures]) =>
    [title.padEnd(widths[0]), ...figures.map((figure, i) => figure.padStart(widths[i + 1]))].join('  ').trimEnd();
  return rows.map(line).join('\n');
}

/** Returns Baton's ratios first, then the figures behind them. */
export function tableOf(found) {
  const rows = Object.entries(COLUMNS).flatMap(([part]) => (found[part] ?? []).flatMap((step) => rowsOf(part, step)));
  return rows.length === 0 ? '' : aligned([HEAD, ...rows]);
}
