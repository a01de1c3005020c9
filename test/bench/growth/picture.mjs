/*
 * Draws growth: four charts over the number of streams, with a line for each number of replicas. Text and lines have
 * `currentColor` if they must be readable on both a light and a dark page.
 */

const PANEL = { width: 300, height: 170, left: 52, top: 34, gap: 34 };
const COLOURS = { 1: '#2f7ed8', 2: '#e07b00', 4: '#3f9b46' };
const OTHER = '#8a4fbe';

const PANELS = [
  ['messages a second', ({ messages }) => messages.per_second],
  ['connects a second', ({ storm }) => storm.per_second],
  ['quiet streams: % of a processor, replicas', ({ quiet }) => quiet.servers * 100],
  ['quiet streams: % of a processor, Redis', ({ quiet }) => quiet.redis * 100],
];

const round = (value) => Math.round(value * 10) / 10;

/** Returns the next 1, 2 or 5 times a power of ten, at or above the value. */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

const text = (x, y, words, extra = '') => `<text x="${round(x)}" y="${round(y)}" ${extra}>${words}</text>`;

function linesOf(growth) {
  const lines = new Map();
  for (const row of growth) {
    const key = `${row.layout} ${row.replicas}`;
    lines.set(key, [...(lines.get(key) ?? []), row]);
  }
  return [...lines.values()];
}

function panel([title, valueOf], number, growth) {
  const { width, height, left, top, gap } = PANEL;
  const origin = {
    x: left + (number % 2) * (width + left + gap),
    y: top + Math.floor(number / 2) * (height + top + gap),
  };
  const streams = [...new Set(growth.map((row) => row.streams))].sort((a, b) => a - b);
  const most = { x: streams.at(-1), y: niceAbove(Math.max(...growth.map(valueOf))) };
  const x = (count) => origin.x + (count / most.x) * width;
  const y = (value) => origin.y + height - (value / most.y) * height;
  const axes = `<path d="M${origin.x} ${origin.y}V${origin.y + height}H${origin.x + width}" fill="none" stroke="currentColor"/>`;
  const marks = streams.map((count) =>
    text(x(count), origin.y + height + 15, `${count / 1_000}k`, 'text-anchor="middle"'),
  );
  const heights = [0.5, 1].map((share) =>
    text(origin.x - 6, y(most.y * share) + 4, String(round(most.y * share)), 'text-anchor="end"'),
  );
  const lines = linesOf(growth).map((rows) => {
    const points = rows.map((row) => `${round(x(row.streams))},${round(y(valueOf(row)))}`);
    const [{ layout, replicas }] = rows;
    const colour = COLOURS[replicas] ?? OTHER;
    const dots = points.map(
      (point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="2.5" fill="${colour}"/>`,
    );
    const dashes = layout === 'apart' ? ' stroke-dasharray="5 3"' : '';
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"${dashes}/>${dots.join('')}`;
  });
  return [text(origin.x, origin.y - 12, title, 'font-weight="bold"'), axes, ...marks, ...heights, ...lines].join('\n');
}

function legend(growth, y) {
  const replicas = [...new Set(growth.map((row) => row.replicas))];
  const words = replicas.map((count, i) =>
    text(PANEL.left + i * 90, y, `${count} replica${count > 1 ? 's' : ''}`, `fill="${COLOURS[count] ?? OTHER}"`),
  );
  return [...words, text(PANEL.left + replicas.length * 90, y, 'dashed: Redis on a core of its own')].join('\n');
}

/** Returns an SVG of the growth; `caption` says where and when it was measured. */
export function pictureOf(growth, caption) {
  const { width, height, left, top, gap } = PANEL;
  const size = { width: 2 * (width + left + gap), height: 2 * (height + top + gap) + 50 };
  const panels = PANELS.map((one, i) => panel(one, i, growth));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" color="#777" fill="#777" font-family="sans-serif" font-size="11" role="img">
<title>What replicas and Redis carry, by the number of streams</title>
${panels.join('\n')}
${legend(growth, size.height - 34)}
${text(left, size.height - 14, caption)}
</svg>
`;
}
