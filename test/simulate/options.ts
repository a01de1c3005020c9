import { parseArgs } from 'node:util';
import { CORPUS } from './corpus.ts';
import type { Plan } from './plan.ts';

export interface Options {
  /** Empty if only the help was asked for. */
  seeds: readonly string[];
  /** How many of the seeds, from the first, run twice, to compare the logs. */
  twice: number;
  /** Replaces parts of the plan of a seed. */
  overrides: Partial<Omit<Plan, 'faults' | 'recalls'>>;
  /** The numbers of the only faults of the plan that happen; null: all. */
  only: readonly number[] | null;
  /** The file for the log. */
  log: string | null;
  shrink: boolean;
  /** Whether steps of every model must have been compared. */
  isWhole: boolean;
  /** Ends with the first seed that fails. */
  stops: boolean;
}

export const NUMBERS = [
  'replicas',
  'devices',
  'seconds',
  'rate',
  'files',
  'transfers',
  'rings',
  'logins',
  'signals',
] as const;

/** Loads that a plan may omit. */
const MAY_BE_NONE: ReadonlySet<string> = new Set(['files', 'transfers', 'rings', 'logins', 'signals']);

const USAGE = `npm run test:simulate -- [options]
  --seed <text>      runs this seed, twice, and compares the logs
  --seeds <n>        runs so many seeds, from --from (1) on
  --from <n>
  --corpus           runs the seeds of the corpus
  --log <file>       writes the log of the last seed there
  --stop             ends with the first seed that fails
  --shrink           makes the plan of a seed that fails smaller, as long as it fails
These replace a part of the plan, as a shrunk seed says:
  --only <n,n>       only these faults of the plan, by their number; none: no faults
  --replicas <n>  --devices <n>  --seconds <n>  --rate <operations a second>  --files <n>
  --transfers <n>  --rings <n>  --logins <n>  --signals <n>`;

/** Throws an error whose message is for people. */
export function readOptions(argv: string[]): Options {
  const text = { type: 'string' as const, default: '' };
  const flag = { type: 'boolean' as const, default: false };
  const { values } = parseArgs({
    args: argv,
    options: {
      ...{ seed: text, seeds: text, from: text, log: text, only: { type: 'string' as const } },
      ...{ replicas: text, devices: text, seconds: text, rate: text, files: text, transfers: text, rings: text },
      ...{ logins: text, signals: text },
      ...{ corpus: flag, shrink: flag, stop: flag, help: flag },
    },
  });
  if (values.help) throw new Error(USAGE);
  const numberOf = (name: (typeof NUMBERS)[number] | 'seeds' | 'from'): number => {
    const number = Number(values[name]);
    if (!(Number.isInteger(number) && number >= (MAY_BE_NONE.has(name) ? 0 : 1)))
      throw new Error(`--${name} ${values[name]} is not a whole number, or too small`);
    return number;
  };
  const overrides = Object.fromEntries(
    NUMBERS.filter((name) => values[name] !== '').map((name) => [name, numberOf(name)]),
  );
  const only =
    values.only === undefined
      ? null
      : values.only
          .split(',')
          .filter((word) => word !== '' && word !== 'none')
          .map(Number);
  const shared = {
    overrides,
    only,
    log: values.log || null,
    shrink: values.shrink,
    stops: values.stop,
    isWhole: values.corpus,
  };
  if (values.seed !== '') return { ...shared, seeds: [values.seed], twice: 1 };
  if (values.corpus) return { ...shared, seeds: CORPUS, twice: 2 };
  if (values.seeds === '') throw new Error(USAGE);
  const from = values.from === '' ? 1 : numberOf('from');
  return { ...shared, seeds: Array.from({ length: numberOf('seeds') }, (_, i) => String(from + i)), twice: 0 };
}
