import { parseArgs } from 'node:util';

const FULL = {
  rounds: 5,
  idleRounds: 3,
  tries: 3,
  messages: 1_000,
  rate: 200,
  seconds: 5,
  inFlight: [16, 128],
  pairs: 64,
  bytes: 200,
  ackEvery: 50,
  streams: [2_000, 8_000],
  warmUp: { inFlight: 64, seconds: 4 },
};

/** Only shows that it works: no figure of it means anything. */
const SMOKE = {
  ...FULL,
  rounds: 1,
  idleRounds: 1,
  tries: 1,
  messages: 50,
  rate: 50,
  seconds: 0.5,
  inFlight: [16],
  pairs: 8,
  streams: [20, 100],
  warmUp: { inFlight: 8, seconds: 0.5 },
};

const USAGE = `npm run bench -- [options]
  --smoke               small numbers, under 40 s: shows that it works
  --only <part>         crossing or idle
  --rounds <n>          rounds of each part (${FULL.rounds}; idle ${FULL.idleRounds})
  --tries <n>           how often a run that other processes disturb is tried (${FULL.tries})
  --seconds <n>         length of a paced and of a saturated run (${FULL.seconds})
  --rate <n>            messages a second of the paced run (${FULL.rate})
  --in-flight <n,n>     messages in flight of the saturated runs (${FULL.inFlight})
  --pairs <n>           accounts, each with a sender and a receiver (${FULL.pairs})
  --bytes <n>           of one message (${FULL.bytes})
  --streams <few,many>  idle streams (${FULL.streams})
  --appendonly          Redis writes an append-only file, fsync every second (default: nothing on disk)
  --no-pin              leave the processes to the scheduler
  --profile <folder>    the replicas write CPU profiles there
  --json <file>         all figures, round by round`;

const number = (text) => {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${text} is not a number above 0`);
  return value;
};

const OVERRIDES = {
  rounds: (text) => ({ rounds: number(text), idleRounds: number(text) }),
  tries: (text) => ({ tries: number(text) }),
  seconds: (text) => ({ seconds: number(text) }),
  rate: (text) => ({ rate: number(text) }),
  'in-flight': (text) => ({ inFlight: text.split(',').map(number) }),
  pairs: (text) => ({ pairs: number(text) }),
  bytes: (text) => ({ bytes: number(text) }),
  streams: (text) => ({ streams: text.split(',').map(number) }),
};

const flag = { type: 'boolean', default: false };
const word = { type: 'string' };

/** What the command line asks for; prints how to use it and exits when that is not possible. */
export function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        ...Object.fromEntries(Object.keys(OVERRIDES).map((name) => [name, word])),
        ...{ smoke: flag, appendonly: flag, 'no-pin': flag, help: flag },
        ...{ only: { ...word, default: 'crossing,idle' }, profile: word, json: word },
      },
    });
    if (values.help) throw new Error('');
    const given = Object.entries(OVERRIDES).filter(([name]) => values[name] !== undefined);
    return {
      ...(values.smoke ? SMOKE : FULL),
      ...Object.assign({}, ...given.map(([name, parse]) => parse(values[name]))),
      parts: values.only.split(','),
      smoke: values.smoke,
      appendOnly: values.appendonly,
      pinned: !values['no-pin'],
      profile: values.profile ?? null,
      json: values.json ?? null,
    };
  } catch (error) {
    process.stderr.write(`${error.message}\n${USAGE}\n`);
    return process.exit(error.message === '' ? 0 : 2);
  }
}
