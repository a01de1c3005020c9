/*
 * The service's clock, as its answers tell it (`Date`, RFC 9110 section 6.6.1). What it says of times (`expires_at`) is by that
 * clock, and this device's may be wrong by minutes.
 */

/** The service's clock is so many milliseconds ahead of ours: between these two. */
interface Bounds {
  least: number;
  most: number;
}

export interface ServerTime {
  /** An answer with this `Date` came, asked for and received at these times of our clock. */
  hear(date: string | null, askedAt: number, heardAt: number): void;
  /** How far the service's clock is ahead of ours, in milliseconds; 0 while nothing tells the two apart. */
  offsetMs(): number;
}

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
      // Two that contradict each other: one of the clocks was set.
      known = both === null || both.least > both.most ? found : both;
    },
    offsetMs() {
      if (known === null || (known.least <= 0 && known.most >= 0)) return 0;
      return Math.round((known.least + known.most) / 2);
    },
  };
}

const time = makeServerTime();

/** Now, by the service's clock as far as it is known; Unix milliseconds. */
export const serverNow = (): number => Date.now() + time.offsetMs();

/** The platform's `fetch`; what answers tell of the service's clock is remembered. */
export async function timedFetch(url: string, init: RequestInit): Promise<Response> {
  const askedAt = Date.now();
  const answer = await fetch(url, init);
  time.hear(answer.headers.get('date'), askedAt, Date.now());
  return answer;
}
