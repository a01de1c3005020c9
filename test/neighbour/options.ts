import { parseArgs } from 'node:util';

const MODES = ['standalone', 'cluster'] as const;
type Mode = (typeof MODES)[number];

export interface Options {
  /** How long the attack lasts in all: half of it with the scenarios in turn, half of it with all at once. */
  seconds: number;
  mode: Mode;
  /** Scenarios by name; empty: all. */
  only: string[];
  /** The most requests a second of one scenario. All at once make twice as many. */
  pace: number;
  /** The `APP_RATE_LIMIT_SCALE` of the replicas. */
  scale: number;
  /** The file for all figures, as JSON. */
  json: string | null;
}

const SMOKE_SECONDS = 30;

const USAGE = `npm run test:neighbour -- [options]
  --seconds <n>      how long the attack lasts in all (120)
  --smoke            the same as --seconds ${SMOKE_SECONDS}
  --mode <mode>      ${MODES.join(', ')} (standalone)
  --only <names>     comma-separated scenarios
  --pace <n>         requests a second of one scenario; all at once make twice as many (100)
  --unlimited        the replicas limit no rates, the attacker knows no bounds: this has to fail
  --json <file>      write all figures there`;

/** Throws an error whose message is for people. */
export function readOptions(argv: string[]): Options {
  const { values } = parseArgs({
    args: argv,
    options: {
      seconds: { type: 'string', default: '120' },
      smoke: { type: 'boolean', default: false },
      pace: { type: 'string', default: '100' },
      mode: { type: 'string', default: 'standalone' },
      only: { type: 'string', default: '' },
      unlimited: { type: 'boolean', default: false },
      json: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) throw new Error(USAGE);
  const mode = MODES.find((one) => one === values.mode);
  if (mode === undefined) throw new Error(`--mode ${values.mode} is not one of ${MODES.join(', ')}`);
  const number = (name: 'seconds' | 'pace'): number => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name} ${values[name]} is not a number above 0\n\n${USAGE}`);
    return value;
  };
  const seconds = values.smoke ? SMOKE_SECONDS : number('seconds');
  return {
    seconds,
    pace: number('pace'),
    mode,
    only: values.only.split(',').filter(Boolean),
    scale: values.unlimited ? 0 : 1,
    json: values.json || null,
  };
}
