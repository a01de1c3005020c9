/** For the last requests, the store's last answers and a last scrape, once streams and transfers are over. */
const END_SECONDS = 15;
/** What still runs after the drain, a listing or a poll that was just answered, is cut after so long. */
const LAST_REQUESTS_SECONDS = 5;
/** If the budget is too short for everything, each of the other parts keeps this share of it. */
const LEAST_SHARE = 1 / 3;

interface DrainSettings {
  readonly noticeSeconds: number;
  readonly streamsSeconds: number;
  readonly transfersSeconds: number;
  /** After so long whoever stops the process kills it; null: it waits for as long as the plan takes. */
  readonly shutdownSeconds: number | null;
}

/** The longest that each part of a stop may take. Streams and transfers end side by side. */
interface DrainPlan {
  /** From the signal to the end of the process. */
  readonly totalMs: number;
  /** Readiness is off, and requests are still taken. */
  readonly noticeMs: number;
  readonly streamsMs: number;
  readonly transfersMs: number;
  /** For requests that are neither. */
  readonly requestsMs: number;
}

/**
 * One budget for a stop: notice, then the longer of the two drains, then the end. Where the budget was given and is
 * shorter than what the parts were given, the notice and the end keep a third of it each at most, and the drains get the
 * rest: so a pod with a grace period of 30 s tells every stream to reconnect, too.
 */
export function drainPlan(settings: DrainSettings): DrainPlan {
  const { noticeSeconds, streamsSeconds, transfersSeconds } = settings;
  const wanted = noticeSeconds + Math.max(streamsSeconds, transfersSeconds) + END_SECONDS;
  const total = Math.min(settings.shutdownSeconds ?? wanted, wanted);
  const end = Math.min(END_SECONDS, total * LEAST_SHARE);
  const notice = Math.min(noticeSeconds, total * LEAST_SHARE);
  const rest = total - end - notice;
  const ms = (seconds: number): number => Math.floor(seconds * 1000);
  return {
    totalMs: ms(total),
    noticeMs: ms(notice),
    streamsMs: ms(Math.min(streamsSeconds, rest)),
    transfersMs: ms(Math.min(transfersSeconds, rest)),
    requestsMs: ms(Math.min(LAST_REQUESTS_SECONDS, end * LEAST_SHARE)),
  };
}
