/*
 * The service's clock, as its responses tell it (`Date`, RFC 9110 section 6.6.1). This machine's clock may be wrong by minutes.
 */

/** The service's clock is ahead of ours by a number of milliseconds between these two. */
interface Bounds {
  least: number;
  most: number;
}

export interface ServerTime {
  /** Takes the `Date` of a response that was requested and received at these times of our clock. */
  hear(date: string | null, askedAt: number, heardAt: number): void;
  /** How far the service's clock is ahead of ours, in milliseconds; 0 while no difference is known. */
  offsetMs(): number;
}

/** Learns the service's clock. A `Date` tells whole seconds, so the bounds of all responses together are kept. */
export function makeServerTime(): ServerTime {
  let known: Bounds | null = null;
  return {
    hear(date, askedAt, heardAt) {
      const second = Date.parse(date ?? '');
      if (Number.isNaN(second) || heardAt < askedAt) return;
      // It was that second at some time between our question and its answer.
      const found: Bounds = { least: second - heardAt, most: second + 999 - askedAt };
      const both: Bounds | null = known && {
        least: Math.max(known.least, found.least),
        most: Math.min(known.most, found.most),
      };
      // The bounds contradict each other, so one of the clocks was set.
      known = both === null || both.least > both.most ? found : both;
    },
    offsetMs() {
      if (known === null || (known.least <= 0 && known.most >= 0)) return 0;
      return Math.round((known.least + known.most) / 2);
    },
  };
}
