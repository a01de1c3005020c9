import { wordsOf } from '../world/resp.ts';
import { type Call, fieldsAt, type Follower, makeFollower, type Outcome, readSteps } from './model-steps.ts';

const STEPS = readSteps('relay');

/** What the relay's store has of a file. If `g` is '', it has nothing. */
type RelayFile = Record<'g' | 'end' | 'base' | 'got' | 'skips' | 'w' | 'r', string>;

const NOTHING: RelayFile = { g: '', end: '', base: '', got: '', skips: '', w: '', r: '' };

/** Returns how the generation in the store compares with another one. */
function ageOf({ g }: RelayFile, generation: string): string {
  if (g === '') return 'gone';
  return Number(g) === Number(generation) ? 'same' : Number(g) < Number(generation) ? 'older' : 'newer';
}

const placeOf = (offset: string, { got }: RelayFile): string => (Number(offset) > Number(got) ? 'behind' : 'within');
const isSame = (a: RelayFile, b: RelayFile): boolean =>
  a.g === b.g && a.end === b.end && a.got === b.got && a.skips === b.skips && a.base === b.base;
const hasMoved = (before: RelayFile, after: RelayFile): string => (before.got === after.got ? 'stays' : 'moves');
const skipsOf = ({ skips }: RelayFile): string => (skips === '1' ? 'skips' : 'whole');

/** A step that was taken, in the words of the model; null: the script found that it had nothing to do. */
type Taken = (Outcome & { step: string }) | null;
type Judge = (call: Call, before: RelayFile, after: RelayFile) => Taken;

const JUDGES: Record<string, Judge> = {
  'relay-commit'({ keys, args, reply }, before, after) {
    const generation = keys[1]?.slice(keys[1].lastIndexOf(':') + 1) ?? '';
    const [token = '', start = '', chunkEnd = ''] = args;
    const age = ageOf(before, generation);
    const sender = token === before.w ? 'newest' : 'other';
    const at = start === before.end ? 'end' : 'elsewhere';
    const [, taken = ''] = wordsOf(reply);
    const to = after.end === before.end ? 'stays' : after.end === chunkEnd ? 'grows' : 'is elsewhere';
    const place = age === 'same' ? `${age} ${sender} ${at}` : `${age} other elsewhere`;
    return { step: `${place} commit`, says: taken === '' ? 'refused' : 'taken', to };
  },

  'relay-open'({ args, reply }, before, after) {
    const [generation = '', side = '', token = '', , from = ''] = args;
    const [, found = ''] = wordsOf(reply);
    if (side === '-' || found !== 'here') return null;
    const age = ageOf(before, generation);
    if (side === 'r')
      return { step: `${age} ${placeOf(from, before)} read`, says: skipsOf(after), to: hasMoved(before, after) };
    // A sender that tries to go on elsewhere only learns where the file stands.
    if (from !== before.end && after.w === before.w) return null;
    const at = from === before.end ? 'end' : 'elsewhere';
    const says = after.w === token ? 'enters' : 'finds';
    return { step: `${age} ${at} send`, says, to: after.end === before.end ? 'stays' : 'grows' };
  },

  // A reader that did not know of another request's generation starts over.
  'relay-wait-read'({ args }, before, after) {
    const [token = '', , position = ''] = args;
    if (before.g === '' || before.r === after.r || after.r !== token) return null;
    return { step: `same ${placeOf(position, before)} read`, says: skipsOf(after), to: hasMoved(before, after) };
  },

  'relay-take'({ args, reply }, before, after) {
    const [token = '', position = ''] = args;
    const [, held = ''] = wordsOf(reply);
    if (held !== '1') return null;
    const how = token === '' ? 'aside' : skipsOf(before);
    const by = token === '' || token === before.r ? '' : ' by another';
    return { step: `${how} ${placeOf(position, before)} report${by}`, says: 'taken', to: hasMoved(before, after) };
  },

  'relay-create'({ args }, before, after) {
    const [generation = '', base = ''] = args;
    const age = ageOf(before, generation);
    if ((age === 'same' || age === 'newer') && isSame(before, after)) return null;
    const place = age === 'gone' ? 'anywhere' : placeOf(base, before);
    const to = after.got === base ? 'base' : after.got === before.got ? 'stays' : 'other';
    return { step: `${age} ${place} create`, says: skipsOf(after), to };
  },
};

/** What takes a file out of the relay: the end of its transfer, newer files, or a loss in the store. */
const REMOVE = new Set(['relay-drop', 'relay-evict', 'lost']);

function wrongFile(call: Call, before: RelayFile, after: RelayFile): string | null {
  const from = `from ${JSON.stringify(before)} to ${JSON.stringify(after)}`;
  if (REMOVE.has(call.name) && after.g === '') return null;
  const taken = JUDGES[call.name]?.(call, before, after) ?? null;
  if (taken === null) return isSame(before, after) ? null : from;
  const step = STEPS.get(taken.step);
  if (step?.says === taken.says && step.to === taken.to) return null;
  return `${taken.step} said "${taken.says}", "${taken.to}", the model says "${step?.says}", "${step?.to}": ${from}`;
}

/** The generation in the record of a transfer, '' before the first. */
interface Recorded {
  g: string;
}

const numberOf = (generation: string): number => (generation === '' ? -1 : Number(generation));

/**
 * Follows the files of the relay by `relay.tla`, in the relay's store and in the records of their transfers. Each record has
 * one file here.
 */
export function followRelay(): Follower[] {
  /** The newest generation that was made of each file. */
  const made = new Map<string, number>();
  const files = makeFollower<RelayFile>({
    record: /:relay:\{[^}]+\}:\d+:state$/,
    look: (ask, key) => fieldsAt(ask, key, ['g', 'end', 'base', 'got', 'skips', 'w', 'r']),
    wrong(call, known, after) {
      const [, id = ''] = /\{([^}]+)\}/.exec(call.keys[0] ?? '') ?? [];
      if (after.g !== '') made.set(id, Math.max(made.get(id) ?? -1, Number(after.g)));
      return wrongFile(call, known ?? NOTHING, after);
    },
  });
  const records = makeFollower<Recorded>({
    record: /:transfer:[^:]+$/,
    async look(ask, key) {
      const { r0 } = await fieldsAt(ask, key, ['r0']);
      return { g: r0.split(':')[0] ?? '' };
    },
    wrong({ name, keys }, known, { g }) {
      const before = known?.g ?? '';
      if (before === g) return null;
      if (name !== 'transfer-generation') return g === '' ? null : `from generation ${before} to ${g}`;
      const [, id = ''] = /:transfer:([^:]+)$/.exec(keys.find((key) => key.includes(':transfer:')) ?? '') ?? [];
      const isMade = (made.get(id) ?? -1) >= Number(g);
      const step = STEPS.get(`${isMade ? 'made' : 'unmade'} next record`);
      const to = String(numberOf(g) - numberOf(before));
      return step?.to === to ? null : `from generation ${before} to ${g}, of ${made.get(id) ?? 'none'} that were made`;
    },
  });
  return [files, records];
}
