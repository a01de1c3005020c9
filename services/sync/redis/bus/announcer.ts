import type { Metrics } from '../../telemetry/metrics.ts';
import { BUS } from './payloads.ts';
import { hashTag } from '../slots.ts';

/**
 * An announcement is repeated so long after the time before. One of an event that could not be made is tried for as long
 * as a way to its part of the store may be cut; one of a passing state, which has no place in the log, not for so long
 * that a newer one could come before it.
 */
const REPEAT_AFTER_MS = [50, 250, 1_000];
const REPEAT_FAILED_AFTER_MS = [...REPEAT_AFTER_MS, 4_000, 8_000, 16_000];

/** Payloads of events that are not in the log begin so. */
const UNLOGGED = `${BUS.unlogged}\n`;

/** A ring that could not be done is tried again so long after; then the sweep of each replica makes up for it. */
const NOTIFY_AGAIN_AFTER_MS = [250, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000];

/**
 * A command whose answer nobody waited for any longer may still take effect: the client goes on sending it for as long
 * as this, so the account is rung after the first time, and once more after the second.
 */
const [LATE_MS, VERY_LATE_MS] = [1_000, 4_000];

/** Announcements, and accounts, that may wait for their next try; more are left to the sweep. */
const MAX_WAITING = 10_000;

export interface Announcement {
  channel: string;
  /** What it is about, for the counters. */
  label: string;
  payload: string;
}

/** Why an account has to be rung: see the metric. */
type NotifyCause = 'repeated' | 'unknown' | 'cut';

interface AnnouncerParts {
  /** Resolves to the number of subscribers that heard it. */
  publish: (channel: string, payload: string) => Promise<number>;
  /** Rings every replica of an account to compare positions. */
  notify: (account: string) => Promise<unknown>;
  /** True for the channel of a replica that is known to be dead. */
  isDeadChannel: (channel: string) => boolean;
  metrics: Metrics;
}

/**
 * Announces what scripts could not, and goes after announcements that got lost. Repeating is harmless: a receiver skips
 * what it saw. A channel that stays unheard is left to its owner, whose nonce tells that it is deaf.
 */
export class Announcer {
  readonly #parts: AnnouncerParts;
  /** Accounts to be rung; `again`: once more when it has been done. */
  readonly #ringing = new Map<string, { again: boolean }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #repeating = 0;
  #isStopped = false;

  constructor(parts: AnnouncerParts) {
    this.#parts = parts;
  }

  /** Announces now, for the first time (Redis Cluster). */
  announce(announcement: Announcement): void {
    const { metrics } = this.#parts;
    void this.#publish(announcement).then((outcome) => {
      metrics.events_published_total.inc({ event: announcement.label, outcome });
      if (outcome !== 'heard') this.repeat(announcement, outcome);
    });
  }

  /** Announces again what nobody heard, a few times. */
  repeat(announcement: Announcement, outcome: 'unheard' | 'failed' = 'unheard', attempt = 0): void {
    const { isDeadChannel, metrics } = this.#parts;
    const isPatient = outcome === 'failed' && !announcement.payload.startsWith(UNLOGGED);
    const delayMs = (isPatient ? REPEAT_FAILED_AFTER_MS : REPEAT_AFTER_MS)[attempt];
    if (delayMs === undefined || this.#repeating >= MAX_WAITING || isDeadChannel(announcement.channel)) {
      metrics.announcements_repeated_total.inc({ outcome: 'given_up' });
      return;
    }
    this.#repeating += 1;
    this.#later(delayMs, async () => {
      this.#repeating -= 1;
      const again = await this.#publish(announcement);
      // From the first time that it was taken it is repeated as what nobody heard, whatever becomes of it then.
      const isTaken = outcome === 'failed' && again === 'unheard';
      if (again !== 'heard') return this.repeat(announcement, isTaken ? again : outcome, isTaken ? 0 : attempt + 1);
      metrics.announcements_repeated_total.inc({ outcome: 'heard' });
    });
  }

  /** Has the account of this key compared, until that has been done: what was announced to it may have been lost. */
  notifyAccount(key: string, cause: NotifyCause): void {
    const account = hashTag(key);
    const { metrics } = this.#parts;
    const underWay = this.#ringing.get(account);
    if (underWay) {
      underWay.again = true;
      return;
    }
    if (this.#ringing.size >= MAX_WAITING) return metrics.accounts_unrung_total.inc({ cause: 'too_many' });
    metrics.accounts_rung_total.inc({ cause });
    const isLate = cause === 'unknown';
    this.#ringing.set(account, { again: isLate });
    if (isLate) this.#later(LATE_MS, async () => this.#ring(account, 0));
    else this.#ring(account, 0);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #ring(account: string, attempt: number): void {
    this.#parts.notify(account).then(
      () => {
        const underWay = this.#ringing.get(account);
        if (underWay?.again) {
          underWay.again = false;
          this.#later(VERY_LATE_MS, async () => this.#ring(account, 0));
        } else this.#ringing.delete(account);
      },
      () => {
        const delayMs = NOTIFY_AGAIN_AFTER_MS[attempt];
        if (delayMs !== undefined) return this.#later(delayMs, async () => this.#ring(account, attempt + 1));
        this.#ringing.delete(account);
        this.#parts.metrics.accounts_unrung_total.inc({ cause: 'failed' });
      },
    );
  }

  async #publish({ channel, payload }: Announcement): Promise<'heard' | 'unheard' | 'failed'> {
    try {
      return (await this.#parts.publish(channel, payload)) > 0 ? 'heard' : 'unheard';
    } catch {
      // Counted by the caller, and repeated.
      return 'failed';
    }
  }

  #later(ms: number, act: () => Promise<void>): void {
    if (this.#isStopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void act();
    }, ms);
    this.#timers.add(timer);
  }
}
