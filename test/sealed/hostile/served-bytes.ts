import { SEALED_RECORD } from '../../../shared/client/sealed/content/records.ts';
import type { Chance } from './chance.ts';
import type { Held, Served } from './relay.ts';

/** How the server gives the bytes of files. */
const WAYS = [
  ...['as it is', 'as it is', 'cut', 'short', 'bit', 'bit', 'swapped', 'repeated', 'another file', 'another transfer'],
  ...['longer', 'moved', 'anew', 'path'],
] as const;
export type Way = (typeof WAYS)[number];

/** The plan of one transfer: it is chosen before, so that the order of requests decides nothing. */
export interface Plan {
  readonly how: Way;
  /** The receiver gets something else than was sent. */
  readonly isOther: boolean;
  readonly served: (held: Held, index: number) => Served;
}

const [S, whole] = [SEALED_RECORD, { cutAt: null }] as const;

/** Changes one bit; a file is never shorter than the nonce and the tag of its record. */
function withoutBit(bytes: Uint8Array, place: number, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const at = Math.floor(place * bytes.length);
  changed[at] = (changed[at] ?? 0) ^ (1 << bit);
  return changed;
}

/** Puts one record into the place of another one, or changes both. */
function withRecords(bytes: Uint8Array, [one, other]: [number, number], isSwapped: boolean): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed.set(bytes.subarray(other * S, (other + 1) * S), one * S);
  if (isSwapped) changed.set(bytes.subarray(one * S, (one + 1) * S), other * S);
  return changed;
}

/** Finds a file with as many bytes among those of other transfers. */
const ofAnother = (all: Iterable<Held>, own: Held, length: number): Uint8Array | undefined =>
  [...all]
    .filter((each) => each.body !== own.body)
    .flatMap(({ uploads }) => uploads)
    .findLast((each) => each.length === length);

interface Chosen {
  readonly how: Way;
  readonly index: number;
  readonly place: number;
  readonly bit: number;
}

/** Returns the bytes of one file, as this plan has them. */
function servedOf(all: Iterable<Held>, own: Held, { how, index, place, bit }: Chosen): Served {
  const bytes = own.uploads[index] as Uint8Array;
  const full = Math.floor(bytes.length / S);
  switch (how) {
    case 'bit':
      return { bytes: withoutBit(bytes, place, bit), ...whole };
    case 'short':
      return { bytes: bytes.subarray(0, Math.floor(place * bytes.length)), ...whole };
    case 'swapped':
      if (full > 1) return { bytes: withRecords(bytes, [0, 1], true), ...whole };
      break;
    case 'repeated':
      if (full > 1) return { bytes: withRecords(bytes, [1, 0], false), ...whole };
      break;
    case 'another file': {
      const other = own.uploads.find((each, at) => at !== index && each.length === bytes.length);
      if (other !== undefined) return { bytes: other, ...whole };
      break;
    }
    case 'another transfer': {
      const other = ofAnother(all, own, bytes.length);
      if (other !== undefined) return { bytes: other, ...whole };
      break;
    }
    case 'longer':
      return { bytes: Buffer.concat([bytes, bytes.subarray(0, 1 + bit)]), ...whole };
    case 'moved':
      return { bytes: Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]), ...whole };
    case 'cut':
    case 'path':
    case 'anew':
      return { bytes, cutAt: Math.floor(place * bytes.length) };
    default:
  }
  return { bytes, ...whole };
}

/** Chooses how the server gives the files of a transfer: it changes one of them. */
export function planOf(chance: Chance, all: Map<string, Held>, count: number): Plan {
  const [how, index] = [chance.pick(WAYS), chance.below(count)];
  const [place, bit] = [chance.below(10_000) / 10_000, chance.below(8)];
  const isOther = !['as it is', 'cut', 'anew', 'path'].includes(how);
  return {
    ...{ how, isOther },
    served(held, wanted) {
      const bytes = held.uploads[wanted] as Uint8Array;
      return wanted === index ? servedOf(all.values(), held, { how, index, place, bit }) : { bytes, ...whole };
    },
  };
}
