import type { Random } from '../chaos/random.ts';

/** One fault of a simulation. */
export interface PlannedFault {
  kind: FaultName;
  /** When it begins, counted from the moment when the streams are open. */
  atMs: number;
  holdMs: number;
  /** From 0 up to 1: chooses the replica, and the way to harm it. */
  target: number;
  variant: number;
}

/** The plan that a seed draws for a run. A smaller plan that fails is easier to read. */
export interface Plan {
  replicas: number;
  devices: number;
  perAccount: number;
  /** Operations a second. */
  rate: number;
  /** How long devices and faults are active. */
  seconds: number;
  /** The number of files that go by the relay. */
  files: number;
  /** The number of transfers. Both sides, and a device that is no party, take steps in any order. */
  transfers: number;
  /** How often a device of an account puts a ring while other devices do too. */
  rings: number;
  /** Login requests. */
  logins: number;
  /** The number of transfers in which both sides send signals. */
  signals: number;
  /**
   * Whether all devices come back before the quiet moment in which everything must be right. Otherwise those that are
   * away stay away.
   */
  recalls: boolean;
  faults: PlannedFault[];
}

/**
 * How long each kind of fault holds, in ms, on the track of the replicas and on that of their ways. Each track has one
 * fault at a time.
 */
const KINDS = {
  replicas: {
    kill: [0, 5_000],
    stall: [500, 3_000],
    'pause-long': [7_500, 13_000],
    drain: [0, 0],
  },
  ways: {
    'lost-pushes': [1_000, 6_000],
    'lost-replies': [500, 3_000],
    'cut-store': [0, 0],
    'cut-subscriber': [0, 0],
    'cut-clients': [0, 2_000],
    'slow-readers': [500, 6_000],
    'store-clock': [0, 0],
    'replica-clock': [0, 5_000],
    'store-restart': [100, 5_000],
  },
} as const;

type Track = keyof typeof KINDS;
export type FaultName = { [T in Track]: keyof (typeof KINDS)[T] }[Track];

const GAP_MS = [300, 4_000] as const;

function drawTrack(track: Track, lengthMs: number, random: Random): PlannedFault[] {
  const kinds = Object.entries(KINDS[track]) as [FaultName, readonly [number, number]][];
  const faults: PlannedFault[] = [];
  for (let atMs = random.between(...GAP_MS); atMs < lengthMs; atMs += random.between(...GAP_MS)) {
    const [kind, hold] = random.pick(kinds);
    const holdMs = Math.round(random.between(...hold));
    faults.push({ kind, atMs: Math.round(atMs), holdMs, target: random.next(), variant: random.next() });
    atMs += holdMs;
  }
  return faults;
}

/** Draws the plan of a seed. */
export function drawPlan(random: Random): Plan {
  const seconds = Math.round(random.between(8, 20));
  const tracks = (Object.keys(KINDS) as Track[]).map((track) => drawTrack(track, seconds * 1_000, random.fork(track)));
  return {
    replicas: random.next() < 0.5 ? 2 : 3,
    devices: 6,
    perAccount: random.next() < 0.5 ? 2 : 3,
    // With more than that the log of an account would not last while a device is away.
    rate: Math.round(random.between(3, 8)),
    seconds,
    recalls: random.next() < 0.5,
    files: Math.floor(random.between(0, 4)),
    transfers: Math.floor(random.between(0, 5)),
    rings: Math.floor(random.between(0, 12)),
    logins: Math.floor(random.between(0, 4)),
    signals: Math.floor(random.between(0, 3)),
    faults: tracks.flat().toSorted((a, b) => a.atMs - b.atMs),
  };
}
