import type { Random } from '../random.ts';

/**
 * The track on which a fault runs. Faults with the same surroundings share a track, and each track runs one at a time.
 */
export type Track = 'replicas' | 'store';

/** The measures of a kind of fault. */
export interface FaultKind {
  name: string;
  track: Track;
  /** How long it holds, in ms. */
  holdMs: readonly [number, number];
  /** How long the fault takes besides, for planning. */
  overheadMs: number;
}

export interface PlannedFault {
  kind: string;
  track: Track;
  /** The pause after the previous fault on its track. */
  afterMs: number;
  holdMs: number;
  /** From 0 up to 1: chooses the target among those that can be hit, and the way to hit it. */
  target: number;
  variant: number;
}

/** Faults on two tracks side by side, and then quiet. */
export type Segment = Record<Track, PlannedFault[]>;

const TRACKS = ['replicas', 'store'] as const;
const SEGMENT_MS = 45_000;
const GAP_MS = [500, 5_000] as const;

/** Draws each kind equally often: all kinds in random order, then all again. */
function makeDeck(kinds: FaultKind[], random: Random): () => FaultKind | undefined {
  let deck: FaultKind[] = [];
  return () => {
    if (deck.length === 0) deck = random.shuffled(kinds);
    return deck.pop();
  };
}

interface PlanParts {
  kinds: FaultKind[];
  minutes: number;
  random: Random;
}

/** The schedule of a seed. It depends on nothing that happens in the run. */
export function planFaults({ kinds, minutes, random }: PlanParts): Segment[] {
  const segments: Segment[] = [];
  const decks = new Map(
    TRACKS.map((track) => {
      const own = random.fork(track);
      const draw = makeDeck(
        kinds.filter((kind) => kind.track === track),
        own,
      );
      return [track, { draw, own }];
    }),
  );
  for (let leftMs = minutes * 60_000; leftMs > 0; leftMs -= SEGMENT_MS) {
    const segment: Segment = { replicas: [], store: [] };
    for (const track of TRACKS) {
      const { draw, own } = decks.get(track) as { draw: () => FaultKind | undefined; own: Random };
      for (let lengthMs = 0; lengthMs < Math.min(SEGMENT_MS, leftMs); ) {
        const kind = draw();
        if (kind === undefined) break;
        const afterMs = own.between(...GAP_MS);
        const holdMs = own.between(...kind.holdMs);
        segment[track].push({ kind: kind.name, track, afterMs, holdMs, target: own.next(), variant: own.next() });
        lengthMs += afterMs + holdMs + kind.overheadMs;
      }
    }
    segments.push(segment);
  }
  return segments;
}

export function describePlan(segments: Segment[]): string {
  const line = ({ kind, afterMs, holdMs }: PlannedFault) =>
    `${kind} after ${(afterMs / 1000).toFixed(1)} s for ${(holdMs / 1000).toFixed(1)} s`;
  return segments
    .flatMap((segment, index) => TRACKS.map((track) => `${index + 1} ${track}: ${segment[track].map(line).join('; ')}`))
    .join('\n');
}
