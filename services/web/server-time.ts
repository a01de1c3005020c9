import { makeServerTime } from '../../shared/client/time/server-time.ts';

/*
 * The service's clock, as its answers tell it (`Date`, RFC 9110 section 6.6.1). Its times (`expires_at`) follow that clock,
 * and the clock of this device may be wrong by minutes.
 */

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
