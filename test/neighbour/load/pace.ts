const TICK_MS = 10;

interface LoopOptions {
  perSecond: number;
  /** Acts that come due while this many are under way are left out. */
  atOnce: number;
  act: (number: number) => Promise<unknown>;
}

/** How much was due, and how much of it was done. */
export interface LoopFigures {
  due: number;
  begun: number;
}

/**
 * Does something at an even pace, whatever the answers are, until it is told to stop. Stopping resolves when nothing is
 * under way.
 */
export function startLoop({ perSecond, atOnce, act }: LoopOptions): () => Promise<LoopFigures> {
  const startedAt = performance.now();
  const underWay = new Set<Promise<void>>();
  const figures = { due: 0, begun: 0 };
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
    for (; figures.due < due; figures.due += 1) {
      if (underWay.size >= atOnce) continue;
      const number = figures.begun++;
      const one = act(number).then(
        () => undefined,
        () => undefined,
      );
      underWay.add(one);
      void one.then(() => underWay.delete(one));
    }
  }, TICK_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(underWay);
    return figures;
  };
}
