const ms = (value) => `${value.toFixed(2)} ms`;
const micros = (value) => `${value.toFixed(0)} us`;
const rate = (value) => `${value.toFixed(0)}/s`;
const percent = (value) => `${(value * 100).toFixed(0)} %`;
const kib = (value) => `${value.toFixed(1)} KiB`;
const mib = (value) => `${value.toFixed(0)} MiB`;
const seconds = (value) => `${value.toFixed(1)} s`;

const LATENCY = [
  ['p50', 'p50', ms],
  ['p95', 'p95', ms],
  ['p99', 'p99', ms],
];
const COST = [
  ['servers_us', 'CPU of both servers a message', micros],
  ['redis_us', 'CPU of Redis a message', micros],
  ['load_us', 'CPU of the clients a message', micros],
];
const IDLE = [
  ['rss_kib', 'resident memory a stream', kib],
  ['heap_kib', 'of it JavaScript heap', kib],
  ['redis_kib', 'memory of Redis a stream', kib],
  ['base_rss_mib', 'resident memory without streams', mib],
  ['first_per_second', 'opened, the first on a cold server', rate],
  ['more_per_second', 'opened, the rest', rate],
  ['all_seconds', 'time to open all', seconds],
  ['open_us', 'CPU of the server an opening', micros],
];

const rowsOf = (part, columns) =>
  columns.map(([name, title, show]) => [
    title,
    show(part.floor[name]),
    show(part.baton[name]),
    Number.isFinite(part.ratio[name]) ? part.ratio[name].toFixed(2) : '-',
  ]);

function crossingRows(part) {
  const isLoad = part.name.startsWith('saturated');
  const rows = rowsOf(part, [...(isLoad ? [['per_second', 'accepted and delivered', rate]] : []), ...LATENCY]);
  const costs = isLoad ? rowsOf(part, COST) : [];
  const others = rowsOf(part, [['others', 'of the machine, taken by others', percent]]);
  const late = part.baton.late_p99 === undefined ? [] : rowsOf(part, [['late_p99', 'load behind its pace, p99', ms]]);
  return [
    [part.title, '', '', ''],
    ...rows.map(indent),
    ...costs.map(indent),
    ...late.map(indent),
    ...others.map(indent),
  ];
}

const indent = ([title, ...rest]) => [`  ${title}`, ...rest];

/** The figures as lines of text, columns aligned. */
export function tableOf({ crossing, idle }) {
  const rows = [['', 'floor', 'baton', 'ratio'], ...(crossing ?? []).flatMap(crossingRows)];
  if (idle !== undefined) {
    rows.push([`idle streams, ${idle.streams.join(' and ')}`, '', '', ''], ...rowsOf(idle, IDLE).map(indent));
  }
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = ([title, ...figures]) =>
    [title.padEnd(widths[0]), ...figures.map((figure, i) => figure.padStart(widths[i + 1]))].join('  ').trimEnd();
  return rows.map(line).join('\n');
}
