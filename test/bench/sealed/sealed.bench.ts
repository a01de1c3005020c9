import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from '../../browser/chromium.ts';
import type { Kind } from '../../browser/measured-sign-in.ts';
import type { Compared } from './compared.ts';
import { startMessages } from './messages.ts';
import { startPages } from './pages.ts';
import { startTerminals } from './terminals.ts';

/*
 * `npm run bench:sealed`: measures with and without encryption, in turns. A ratio is the median of the ratios of each round. It
 * fails when something does not arrive. It does not fail because a ratio is below its bar, which the table shows.
 */

const MIB = 1024 * 1024;
const SIZE_MIB = Number(process.env.BENCH_SEALED_MIB ?? 256);
const ROUNDS = Number(process.env.BENCH_SEALED_ROUNDS ?? 5);
const TRIPS = Number(process.env.BENCH_SEALED_TRIPS ?? 400);
const ONLY = process.env.BENCH_SEALED_ONLY?.split(',') ?? ['command-line', 'app', 'messages'];
const TAKES_MS = 3_600_000;

interface Row {
  what: string;
  unit: string;
  bar: number | null;
  plain: number;
  sealed: number;
  ratios: number[];
}

const median = (figures: readonly number[]): number =>
  [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? NaN;

const rows: Row[] = [];

const ROUND_TRIPS = 10;
const MOST_LINES = 20;

/** Measures both kinds in each round, each first as often as the other. A round before them does not count. */
async function compare<F extends string>(
  started: Compared<F>,
  rounds: number,
  figures: Record<F, Pick<Row, 'what' | 'unit' | 'bar'>>,
): Promise<void> {
  const names = Object.keys(figures) as F[];
  const found: Record<Kind, Record<F, number>>[] = [];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const order: Kind[] = round % 2 === 0 ? ['plain', 'sealed'] : ['sealed', 'plain'];
      const both: Partial<Record<Kind, Record<F, number>>> = {};
      for (const kind of order) both[kind] = await started.measure(kind);
      const { plain, sealed } = both as Record<Kind, Record<F, number>>;
      for (const name of rounds > MOST_LINES ? [] : names) {
        const { what, unit } = figures[name];
        const load = (loadavg()[0] ?? 0).toFixed(1);
        const word = round === 0 ? 'warm-up' : `round ${round}`;
        const ratio = (sealed[name] / plain[name]).toFixed(2);
        process.stdout.write(
          `${what}, ${word}: ${plain[name].toFixed(1)} and sealed ${sealed[name].toFixed(1)} ${unit}, ratio ${ratio}; load ${load}\n`,
        );
      }
      if (round > 0) found.push({ plain, sealed });
    }
  } finally {
    await started.stop();
  }
  for (const name of names) {
    rows.push({
      ...figures[name],
      plain: median(found.map(({ plain }) => plain[name])),
      sealed: median(found.map(({ sealed }) => sealed[name])),
      ratios: found.map(({ plain, sealed }) => sealed[name] / plain[name]),
    });
  }
}

function lineOf({ what, unit, bar, plain, sealed, ratios }: Row): string {
  const ratio = median(ratios);
  const sorted = [...ratios].sort((a, b) => a - b);
  const spread = [0.25, 0.75].map((share) => (sorted[Math.floor(share * sorted.length)] ?? NaN).toFixed(2)).join('-');
  const said = bar === null ? '' : ratio >= bar ? 'kept' : 'MISSED';
  const figures = [plain.toFixed(1), sealed.toFixed(1), ratio.toFixed(2), spread, bar?.toFixed(2) ?? '', said];
  return [`${what}, ${unit}`.padEnd(52), ...figures.map((text) => text.padStart(11))].join('');
}

describe('sealed beside unsealed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-sealed-'));
  const film = join(folder, 'film.bin');
  beforeAll(() => {
    for (let mib = 0; mib < SIZE_MIB; mib += 1) appendFileSync(film, randomBytes(MIB));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
    const heads = ['plain', 'sealed', 'ratio', 'quartiles', 'bar', ''].map((word) => word.padStart(11));
    process.stdout.write(`\n${[`${''.padEnd(52)}${heads.join('')}`, ...rows.map(lineOf)].join('\n')}\n`);
  });

  const parts = {
    'command-line': async () =>
      compare(await startTerminals(SIZE_MIB, film), ROUNDS, {
        moved: { what: 'command line, relay: from offer to end', unit: 'MiB/s', bar: 0.8 },
        whole: { what: 'command line, relay: whole command', unit: 'MiB/s', bar: null },
      }),
    app: async () =>
      compare(await startPages(SIZE_MIB, film), ROUNDS, {
        moved: { what: 'app in Chromium, relay', unit: 'MiB/s', bar: 0.75 },
        sendingPause: { what: 'the same, longest pause of the sending page', unit: 'ms', bar: null },
        receivingPause: { what: 'the same, of the receiving page', unit: 'ms', bar: null },
        sendingMemory: { what: 'the same, memory of the sending page', unit: 'MiB', bar: null },
        receivingMemory: { what: 'the same, of the receiving page', unit: 'MiB', bar: null },
      }),
    // The rounds are short, so that other work on the machine disturbs both kinds alike.
    messages: async () =>
      compare(await startMessages(Math.min(TRIPS, ROUND_TRIPS)), Math.ceil((ROUNDS * TRIPS) / ROUND_TRIPS), {
        trips: { what: 'messages, there and back', unit: 'trips/s', bar: 0.9 },
      }),
  };
  const isPossible = (part: string) => ONLY.includes(part) && (part !== 'app' || chromiumPath !== undefined);
  const asked = Object.entries(parts).filter(([part]) => isPossible(part));

  test.each(asked)(
    '%s',
    async (_, measure) => {
      await measure();
      expect(rows.at(-1)?.sealed).toBeGreaterThan(0);
    },
    TAKES_MS,
  );
});
