import { setTimeout as delay } from 'node:timers/promises';
import type { Arrivals } from './arrivals.ts';

/** The pause between two checks whether anybody uses this process. */
const QUIET_CHECK_MS = 500;

/**
 * Resolves after `noticeMs`, during which balancers see that this process is no longer ready. Requests that arrive meanwhile
 * are answered. If the process was unused for `noticeMs`, no balancer sends anything here, and it resolves within half a
 * second (services/decisions, 30).
 */
export async function giveNotice(noticeMs: number, arrivals: Pick<Arrivals, 'isQuiet'>): Promise<void> {
  const endsAt = performance.now() + noticeMs;
  for (let leftMs = noticeMs; leftMs > 0; leftMs = endsAt - performance.now()) {
    await delay(Math.min(QUIET_CHECK_MS, leftMs));
    if (arrivals.isQuiet(noticeMs)) return;
  }
}
