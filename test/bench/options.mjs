import { parseArgs } from 'node:util';
import { LAYOUT_NAMES } from './machine/pinning.mjs';

const PARTS = ['messages', 'commands', 'fan-out', 'storm', 'idle'];

const FULL = {
  rounds: 5,
  fleetRounds: 3,
  tries: 3,
  messages: 1_000,
  seconds: 3,
  inFlight: [16, 128],
  pairs: 64,
  bytes: 300,
  ackEvery: 50,
  warmUp: { inFlight: 64, seconds: 3 },
  operations: 2_000,
  commandsInFlight: 32,
  fanOut: [1, 2, 5, 32],
  fanOutSeconds: 1.5,
  fanOutStreams: 64,
  streams: [2_000, 10_000],
  storms: 3,
  quietSeconds: 16,
  growth: [1_000, 5_000, 10_000, 20_000],
  growthSeconds: 5,
  replicas: [1, 2, 4],
  layouts: ['one', 'apart'],
};

/** This only shows that the bench works: its figures mean nothing. */
const SMOKE = {
  ...FULL,
  rounds: 1,
  fleetRounds: 1,
  tries: 1,
  messages: 50,
  seconds: 0.5,
  inFlight: [16],
  pairs: 8,
  warmUp: { inFlight: 8, seconds: 0.3 },
  operations: 100,
  fanOut: [3],
  fanOutSeconds: 0.3,
  fanOutStreams: 10,
  streams: [20, 100],
  storms: 1,
  quietSeconds: 1,
  growth: [100],
  growthSeconds: 0.5,
  replicas: [2],
  layouts: ['one'],
};

const USAGE = `npm run bench -- [options]
  --smoke               small numbers, under a minute: shows that it works
  --only <part,part>    of ${PARTS.join(', ')}; growth is not among them unless it is named
  --rounds <n>          rounds of each part (${FULL.rounds}; storm and idle ${FULL.fleetRounds})
  --tries <n>           how often a run that other processes disturb is tried (${FULL.tries})
  --seconds <n>         length of a paced and of a saturated run (${FULL.seconds})
  --in-flight <n,n>     messages in flight of the saturated runs (${FULL.inFlight})
  --pairs <n>           accounts, each with a sender and a receiver (${FULL.pairs})
  --bytes <n>           of one message (${FULL.bytes})
  --operations <n>      of each command (${FULL.operations})
  --fan-out <n,n>       listening devices of an account (${FULL.fanOut})
  --streams <few,many>  of storm and idle (${FULL.streams})
  --storms <n>          of each fleet (${FULL.storms})
  --quiet <n>           seconds in which idle streams are looked at (${FULL.quietSeconds})
  --replicas <n,n>      of growth (${FULL.replicas})
  --growth <n,n>        streams of growth (${FULL.growth})
  --layouts <word,word> of growth (${FULL.layouts})
  --pin <word>          one: servers and Redis on one processor, the load on the others (default); apart: servers on one
                        half, Redis and the load on the other; none: the scheduler decides
  --appendonly          Redis writes an append-only file, fsync every second (default: nothing on disk)
  --profile <folder>    the replicas write CPU profiles there
  --json <file>         all figures, round by round
  --publish             growth too; writes README.md and deploy/capacity.md, with its picture and its figures`;

const number = (text) => {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${text} is not a number above 0`);
  return value;
};
const numbers = (text) => text.split(',').map(number);
const oneOf = (names) => (text) => {
  const wrong = text.split(',').find((word) => !names.includes(word));
  if (wrong !== undefined) throw new Error(`${wrong} is none of ${names.join(', ')}`);
  return text.split(',');
};

const OVERRIDES = {
  rounds: (text) => ({ rounds: number(text), fleetRounds: number(text) }),
  tries: (text) => ({ tries: number(text) }),
  seconds: (text) => ({ seconds: number(text) }),
  'in-flight': (text) => ({ inFlight: numbers(text) }),
  pairs: (text) => ({ pairs: number(text) }),
  bytes: (text) => ({ bytes: number(text) }),
  operations: (text) => ({ operations: number(text) }),
  'fan-out': (text) => ({ fanOut: numbers(text) }),
  streams: (text) => ({ streams: numbers(text) }),
  storms: (text) => ({ storms: number(text) }),
  quiet: (text) => ({ quietSeconds: number(text) }),
  replicas: (text) => ({ replicas: numbers(text) }),
  growth: (text) => ({ growth: numbers(text) }),
  layouts: (text) => ({ layouts: oneOf(LAYOUT_NAMES)(text) }),
};

const flag = { type: 'boolean', default: false };
const word = { type: 'string' };

/** Returns what the command line asks for. If that is not possible, it prints the usage and exits. */
export function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        ...Object.fromEntries(Object.keys(OVERRIDES).map((name) => [name, word])),
        ...{ smoke: flag, appendonly: flag, publish: flag, help: flag },
        ...{ only: word, profile: word, json: word, pin: { ...word, default: 'one' } },
      },
    });
    if (values.help) throw new Error('');
    const given = Object.entries(OVERRIDES).filter(([name]) => values[name] !== undefined);
    const all = [...PARTS, 'growth'];
    return {
      ...(values.smoke ? SMOKE : FULL),
      ...Object.assign({}, ...given.map(([name, parse]) => parse(values[name]))),
      parts: values.only === undefined ? (values.smoke || values.publish ? all : PARTS) : oneOf(all)(values.only),
      smoke: values.smoke,
      appendOnly: values.appendonly,
      layout: oneOf(LAYOUT_NAMES)(values.pin)[0],
      profile: values.profile ?? null,
      json: values.json ?? null,
      publish: values.publish,
    };
  } catch (error) {
    process.stderr.write(`${error.message}\n${USAGE}\n`);
    return process.exit(error.message === '' ? 0 : 2);
  }
}
