interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** Runs work, at most so much at once in each lane: a slow push service holds up nobody but itself. */
export function makeLanes(width: number) {
  const lanes = new Map<string, Lane>();

  return {
    /** Work that this lane has no room for yet. */
    waiting: (name: string): number => lanes.get(name)?.waiting.length ?? 0,

    /** Runs `work` when the lane has room, in the order of asking. Ends as it does. */
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const lane = lanes.get(name) ?? { running: 0, waiting: [] };
      lanes.set(name, lane);
      if (lane.running < width) lane.running += 1;
      // Whoever ends hands over its place.
      else await new Promise<void>((go) => lane.waiting.push(go));
      try {
        return await work();
      } finally {
        const next = lane.waiting.shift();
        if (next) next();
        else lane.running -= 1;
        // Names come from endpoints that users choose: none is kept without work.
        if (lane.running === 0) lanes.delete(name);
      }
    },
  };
}

export type Lanes = ReturnType<typeof makeLanes>;
