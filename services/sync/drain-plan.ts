/** Time for the last requests, the store's last answers and a last scrape, after streams and transfers are over. */
const END_SECONDS = 15;
/** Requests that still run after the drain, such as a listing or a poll that was just answered, are cut after this time. */
const LAST_REQUESTS_SECONDS = 5;
/** If the budget is too short for everything, the notice and the end each get at most this share of it. */
const LEAST_SHARE = 1 / 3;

interface DrainSettings {
  readonly noticeSeconds: number;
  readonly streamsSeconds: number;
  readonly transfersSeconds: number;
  /** After this time the supervisor kills the process. Null: it waits for as long as the plan takes. */
  readonly shutdownSeconds: number | null;
}

/** The longest time that each part of a stop may take. Streams and transfers end side by side. */
interface DrainPlan {
  /** Time from the signal to the end of the process. */
  readonly totalMs: number;
  /** Time in which the replica is not ready, but still takes requests. */
  readonly noticeMs: number;
  readonly streamsMs: number;
  readonly transfersMs: number;
  /** Time for requests that are neither streams nor transfers. */
  readonly requestsMs: number;
}

/**
 * Plans a stop as one budget: the notice, then the longer of the two drains, then the end. If the given budget is shorter
 * than the parts together, the notice and the end each get at most a third of it, and the drains get the rest. Thus even
 * a pod with a grace period of 30 s tells every stream to reconnect.
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
