import { parseArgs } from 'node:util';

export const MODES = ['standalone', 'sentinel', 'cluster'] as const;
export type Mode = (typeof MODES)[number];

export interface Options {
  minutes: number;
  seed: string;
  mode: Mode;
  devices: number;
  /** The devices of one account. */
  perAccount: number;
  /** Operations a second. With the acknowledgements there are about twice as many events. */
  rate: number;
  replicas: number;
  /** Kinds of faults; empty: all that the mode has. */
  only: string[];
  /** Takes only kinds of faults that excuse next to nothing. */
  strict: boolean;
  /** The file for the whole history, as JSON. */
  history: string | null;
  /** Only print the schedule. */
  plan: boolean;
  /** A history of an earlier run. It is only judged. */
  check: string | null;
}

/** The accounts of a run, by name. */
export const accountNames = ({ devices, perAccount }: Pick<Options, 'devices' | 'perAccount'>): string[] =>
  Array.from({ length: Math.ceil(devices / perAccount) }, (_, i) => `a${String(i).padStart(3, '0')}`);

const USAGE = `npm run test:chaos -- [options]
  --minutes <n>      how long faults are made (1); 10 or more make a full run
  --seed <text>      determines the schedule and the load (random)
  --mode <mode>      ${MODES.join(', ')} (standalone)
  --devices <n>      devices (200)
  --per-account <n>  devices of an account (4)
  --rate <n>         operations a second; acknowledgements come on top (80)
  --replicas <n>     replicas (3)
  --only <kinds>     comma-separated kinds of faults
  --strict           only faults after which nothing may be lost or given up
  --history <file>   write everything that was sent and received there, and beside it, as <file>.operations.jsonl, what
                     several devices did to the same things, which is then judged too (needs Go)
  --plan             print the schedule and stop
  --check <file>     judge a history that --history wrote, and start nothing`;

/** Throws an error whose message is for people. */
export function readOptions(argv: string[], randomSeed: string): Options {
  const text = (fallback: string) => ({ type: 'string' as const, default: fallback });
  const { values } = parseArgs({
    args: argv,
    options: {
      minutes: text('1'),
      seed: text(randomSeed),
      mode: text('standalone'),
      devices: text('200'),
      'per-account': text('4'),
      rate: text('80'),
      replicas: text('3'),
      only: text(''),
      history: text(''),
      check: text(''),
      plan: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) throw new Error(USAGE);
  const number = (name: 'minutes' | 'devices' | 'per-account' | 'rate' | 'replicas'): number => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name} ${values[name]} is not a number above 0\n\n${USAGE}`);
    return value;
  };
  const mode = MODES.find((one) => one === values.mode);
  if (mode === undefined) throw new Error(`--mode ${values.mode} is not one of ${MODES.join(', ')}`);
  return {
    minutes: number('minutes'),
    seed: values.seed,
    mode,
    devices: number('devices'),
    perAccount: Math.max(2, number('per-account')),
    rate: number('rate'),
    replicas: Math.max(2, number('replicas')),
    only: values.only.split(',').filter(Boolean),
    strict: values.strict,
    history: values.history || null,
    plan: values.plan,
    check: values.check || null,
  };
}
