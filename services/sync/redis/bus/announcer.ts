import type { Metrics } from '../../telemetry/metrics.ts';
import { BUS } from './payloads.ts';
import { hashTag } from '../slots.ts';

/**
 * Times between the repetitions of an announcement. A failed announcement of an event in the log is repeated for as
 * long as the store may be out of reach. An announcement of a passing state is not, because a newer state could be
 * announced before it.
 */
const REPEAT_AFTER_MS = [50, 250, 1_000];
const REPEAT_FAILED_AFTER_MS = [...REPEAT_AFTER_MS, 4_000, 8_000, 16_000];

/** Start of the payloads of events that are not in the log. */
const UNLOGGED = `${BUS.unlogged}\n`;

/**
 * Times until a failed notification of an account is tried again. After the last, the sweep of each replica makes up
 * for it.
 */
const NOTIFY_AGAIN_AFTER_MS = [250, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000];

/**
 * A command that was given up may still take effect, because it may be on its way to the store. So the account is notified
 * after the first of these times, and once more when the second has passed too.
 */
const [LATE_MS, VERY_LATE_MS] = [1_000, 4_000];

/** Most announcements, and most accounts, that may wait for their next try; more are left to the sweep. */
const MAX_WAITING = 10_000;

export interface Announcement {
  channel: string;
  /** Label for the counters. */
  label: string;
  payload: string;
}

/** Why an account is notified: see the metric. */
type NotifyCause = 'repeated' | 'unknown' | 'cut';

interface AnnouncerParts {
  /** Resolves to the number of subscribers that heard it. */
  publish: (channel: string, payload: string) => Promise<number>;
  /** Makes every replica of an account compare the positions of its streams. */
  notify: (account: string) => Promise<unknown>;
  /** Returns true for the channel of a replica that is known to be dead. */
  isDeadChannel: (channel: string) => boolean;
  metrics: Metrics;
}

/**
 * Announces what scripts could not, and repeats announcements that nobody heard. A repetition is harmless, because a
 * receiver skips what it saw. A channel that stays unheard is left to its replica, which notices by its nonces that its
 * subscriber is silent.
 */
export class Announcer {
  readonly #parts: AnnouncerParts;
  /** Accounts that are being notified; `again`: once more after that. */
  readonly #notifying = new Map<string, { again: boolean }>();
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

  /** Repeats an announcement that nobody heard, a few times. */
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
      // Once the store has taken the announcement, it counts as unheard, whatever the result of later tries.
      const isTaken = outcome === 'failed' && again === 'unheard';
      if (again !== 'heard') return this.repeat(announcement, isTaken ? again : outcome, isTaken ? 0 : attempt + 1);
      metrics.announcements_repeated_total.inc({ outcome: 'heard' });
    });
  }

  /**
   * Notifies the account of this key, because an announcement to it may have been lost. Tries again until that
   * succeeds.
   */
  notifyAccount(key: string, cause: NotifyCause): void {
    const account = hashTag(key);
    const { metrics } = this.#parts;
    const underWay = this.#notifying.get(account);
    if (underWay) {
      underWay.again = true;
      return;
    }
    if (this.#notifying.size >= MAX_WAITING) return metrics.accounts_unnotified_total.inc({ cause: 'too_many' });
    metrics.accounts_notified_total.inc({ cause });
    const isLate = cause === 'unknown';
    this.#notifying.set(account, { again: isLate });
    if (isLate) this.#later(LATE_MS, async () => this.#notify(account, 0));
    else this.#notify(account, 0);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #notify(account: string, attempt: number): void {
    this.#parts.notify(account).then(
      () => {
        const underWay = this.#notifying.get(account);
        if (underWay?.again) {
          underWay.again = false;
          this.#later(VERY_LATE_MS, async () => this.#notify(account, 0));
        } else this.#notifying.delete(account);
      },
      () => {
        const delayMs = NOTIFY_AGAIN_AFTER_MS[attempt];
        if (delayMs !== undefined) return this.#later(delayMs, async () => this.#notify(account, attempt + 1));
        this.#notifying.delete(account);
        this.#parts.metrics.accounts_unnotified_total.inc({ cause: 'failed' });
      },
    );
  }

  async #publish({ channel, payload }: Announcement): Promise<'heard' | 'unheard' | 'failed'> {
    try {
      return (await this.#parts.publish(channel, payload)) > 0 ? 'heard' : 'unheard';
    } catch {
      // The caller counts and repeats it.
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
