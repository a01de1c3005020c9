interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** Runs work, at most `width` at once in each lane, so that a slow push service holds up only itself. */
export function makeLanes(width: number) {
  const lanes = new Map<string, Lane>();

  return {
    /** Returns how many pieces of work wait in this lane. */
    waiting: (name: string): number => lanes.get(name)?.waiting.length ?? 0,

    /** Runs `work` as soon as the lane has a free slot, in the order of the calls. Settles as `work` does. */
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const lane = lanes.get(name) ?? { running: 0, waiting: [] };
      lanes.set(name, lane);
      if (lane.running < width) lane.running += 1;
      // Work that ends hands its slot over.
      else await new Promise<void>((go) => lane.waiting.push(go));
      try {
        return await work();
      } finally {
        const next = lane.waiting.shift();
        if (next) next();
        else lane.running -= 1;
        // Users choose the endpoints that name lanes, so an idle lane is not kept.
        if (lane.running === 0) lanes.delete(name);
      }
    },
  };
}

export type Lanes = ReturnType<typeof makeLanes>;
