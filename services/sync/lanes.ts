interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

/** How much work waits in each lane, and how long. `refusal` makes the error for work beyond that. */
interface Patience {
  most: number;
  ms: number;
  refusal: () => Error;
}

/**
 * Runs work, at most `width` at once in each lane, so that what is slow in one lane holds up only that lane. Without
 * `patience` all work waits for its turn.
 */
export function makeLanes(width: number, patience: Patience | null = null) {
  const lanes = new Map<string, Lane>();

  const turnIn = ({ waiting }: Lane): Promise<void> =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const begin = (): void => {
        clearTimeout(timer);
        waiting.delete(begin);
        resolve();
      };
      if (patience !== null) {
        const refuse = (): void => {
          waiting.delete(begin);
          reject(patience.refusal());
        };
        if (waiting.size >= patience.most) return refuse();
        timer = setTimeout(refuse, patience.ms);
      }
      waiting.add(begin);
    });

  return {
    /** Returns how many pieces of work wait in this lane. */
    waiting: (name: string): number => lanes.get(name)?.waiting.size ?? 0,

    /** Runs `work` as soon as the lane has a free slot, at once if it has one, in the order of the calls. */
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const lane = lanes.get(name) ?? { running: 0, waiting: new Set() };
      lanes.set(name, lane);
      if (lane.running < width) lane.running += 1;
      // Work that ends hands its slot over.
      else await turnIn(lane);
      try {
        return await work();
      } finally {
        const [next] = lane.waiting;
        if (next) next();
        else lane.running -= 1;
        // Users choose the names of some lanes, so an idle lane is not kept.
        if (lane.running === 0) lanes.delete(name);
      }
    },
  };
}

export type Lanes = ReturnType<typeof makeLanes>;
