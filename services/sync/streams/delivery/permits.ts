/** At most `count` at a time; the others wait in order. Bounds what a reconnect storm holds in memory at once. */
export function makePermits(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return async function withPermit<T>(act: () => Promise<T>): Promise<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
