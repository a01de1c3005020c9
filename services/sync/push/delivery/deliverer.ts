import { readWhenScraped } from '../../../../shared/service-kit/telemetry/metrics.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { parseJob, type PushJob } from './jobs.ts';
import { type Lanes, makeLanes } from '../../lanes.ts';
import type { Notices } from './notice.ts';
import type { PushOutcome, PushSender } from '../sender.ts';
import type { Finish, PushStore, Taken } from '../store.ts';

/**
 * How many pushes may wait for one push service, as a multiple of those under way there. The first is what is sent in the
 * ten seconds until the account is checked again, at 50 ms each; further pushes stay due. The second, for pushes that
 * other replicas accepted, is lower, because those replicas send them.
 */
const [MOST_WAITING, MOST_TAKEN_OVER] = [200, 100];
/** Pushes in this replica. Above it a push service may have no more waiting than under way, so none crowds out others. */
const MANY_WAITING = 10_000;
/** The lookups of targets at once, and the pause after each, so that thousands of queued pushes do not come in a burst. */
const [LOOKUPS, LOOKUP_PAUSE_MS] = [2, 1];

/** The pause between two tries: doubled each time, up to the longest. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [5_000, 900_000];

/** The pause between two pushes. Encrypting and sending one takes some 1.4 ms of this process. */
const PACE_MS = 2;

/** The push is too big for the push service even without its preview. The push ends; its registration stays active. */
const TOO_BIG = 'status 413';
/** The TTL of the push ended before a push service took it. */
const EXPIRED = 'expired';

/** After so many tries, in some fifteen minutes, no rollout is under way any more: no replica can send this push. */
const MOST_NOT_HERE = 8;

type Judged = Exclude<PushOutcome, { outcome: 'not_here' }>;

/**
 * A `gone` from before the registration is about an older one, so it becomes a `retry`. So does a push that
 * this replica has no settings for, as long as another replica may have them.
 */
export function judged(answer: PushOutcome, { registration: { fence }, attempts }: Taken): Judged {
  if (answer.outcome === 'not_here') {
    const { reason } = answer;
    return attempts < MOST_NOT_HERE ? { outcome: 'retry', afterMs: null, reason } : { outcome: 'failed', reason };
  }
  const isStale = answer.outcome === 'gone' && answer.asOfMs !== undefined && answer.asOfMs < Number(fence);
  return isStale ? { outcome: 'retry', afterMs: null, reason: 'renewed_since' } : answer;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Returns the pause before the next try, with jitter, so that pushes that failed together are not tried together. It is
 * never shorter than the push service asked for, nor than our own pause, because a service may say "at once" each time.
 */
export function pauseMs(attempts: number, afterMs: number | null): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts, 20));
  const ours = longest * (0.5 + Math.random() / 2);
  return afterMs === null ? ours : Math.max(ours, afterMs + Math.random() * Math.max(1_000, afterMs / 5));
}

interface DelivererParts {
  store: PushStore;
  /** Waits for the keys, which may be in the store. */
  outbox: () => Promise<{ sender: PushSender; notices: Notices }>;
  /** The pushes at once at one provider. */
  concurrency: number;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  metrics: Metrics;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Sends each push that is due at least once, on the replica that takes it first. A push is taken only when it can be sent
 * at once. So its lease covers the sending alone, and other replicas can help with what waits here.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #lookups = makeLanes(LOOKUPS);
  readonly #providers: Lanes;
  /** Pushes that wait or are under way here, by account and job, so that none waits twice. */
  readonly #here = new Map<string, Promise<void>>();
  #pacing = Promise.resolve();
  #isStopped = false;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    this.#providers = makeLanes(parts.concurrency);
    readWhenScraped(parts.metrics.push_queue_depth, () => this.#here.size);
  }

  /** Sends a push that this replica accepted, as soon as its provider has a free slot. */
  push(account: string, text: string): void {
    this.#start(account, text, MOST_WAITING);
  }

  /** Sends a push that another replica may have accepted, if few wait for its provider here. */
  takeOver(account: string, text: string): void {
    this.#start(account, text, MOST_TAKEN_OVER);
  }

  /** Starts a push where there is space for it. Otherwise it stays due, and the sweep of due jobs finds it. */
  #start(account: string, text: string, most: number): void {
    const name = `${account} ${text}`;
    // Lookups wait only for the store, so they share one lane.
    if (this.#isStopped || this.#here.has(name) || this.#lookups.waiting('') >= MANY_WAITING) return;
    const work = this.#work(account, parseJob(text), most)
      // When the lease lapses, the push is due again.
      .catch((error: unknown) => this.#parts.onFailure('push', error))
      .finally(() => this.#here.delete(name));
    this.#here.set(name, work);
  }

  /** Starts no more pushes. Resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#here.values());
  }

  async #work(account: string, job: PushJob, most: number): Promise<void> {
    const provider = await this.#lookups.run('', async () => {
      const target = this.#isStopped ? null : await this.#parts.store.target(account, job);
      if (this.#here.size > LOOKUPS) await pause(LOOKUP_PAUSE_MS);
      return target === null ? '' : (await this.#parts.outbox()).sender.providerOf(target);
    });
    const known = this.#here.size - this.#lookups.waiting('');
    const share = known < MANY_WAITING ? most : 1;
    if (this.#providers.waiting(provider) >= share * this.#parts.concurrency) return;
    await this.#providers.run(provider, async () => {
      if (!this.#isStopped) await this.#deliver(account, job);
    });
  }

  async #deliver(account: string, job: PushJob): Promise<void> {
    const { store, outbox, metrics } = this.#parts;
    const { sender, notices } = await outbox();
    const taken = await store.take(account, job);
    const takenAt = performance.now();
    if (typeof taken === 'string') {
      if (taken !== 'later') metrics.push_dropped_total.inc({ reason: taken });
      return;
    }
    const { registration } = taken;
    if (!(await store.owns(registration, account, job.deviceId))) {
      // Another account claimed the target, and its replica died before it could drop this registration.
      await store.drop(account, job.deviceId, { ...registration, platform: job.platform });
      metrics.push_dropped_total.inc({ reason: 'moved' });
      return;
    }
    const leftMs = notices.leftMs(job, taken);
    if (leftMs <= 0) return this.#giveUp(account, job, taken, EXPIRED);
    const notice = notices.noticeOf(account, job, taken, leftMs);
    await this.#pace();
    const answer = judged(await sender.send(registration.target, notice), taken);
    metrics.push_sent_total.inc({ platform: job.platform, outcome: answer.outcome });
    if (answer.outcome === 'delivered' && job.kind === 'message') metrics.messages_unacked_pushed_total.inc();
    if (answer.outcome === 'delivered' && taken.attempts === 0) {
      metrics.push_delay_seconds.observe((taken.nowMs - taken.dueAtMs + performance.now() - takenAt) / 1_000);
    }
    await this.#settle(account, job, { taken, leftMs }, answer);
  }

  /** Spaces pushes out, so that events are delivered in between. */
  #pace(): Promise<void> {
    this.#pacing = this.#pacing.then(() => pause(PACE_MS));
    return this.#pacing;
  }

  async #settle(
    account: string,
    job: PushJob,
    { taken, leftMs }: { taken: Taken; leftMs: number },
    answer: Judged,
  ): Promise<void> {
    const { store, scheduleDue, metrics } = this.#parts;
    if (answer.outcome === 'retry') {
      metrics.push_retries_total.inc({ platform: job.platform, reason: answer.reason });
      const inMs = pauseMs(taken.attempts, answer.afterMs);
      if (inMs >= leftMs) return this.#giveUp(account, job, taken, EXPIRED);
      await scheduleDue(account, inMs);
      await store.finish(account, job, taken, { outcome: 'retry', inMs });
    } else if (answer.outcome === 'failed') {
      await this.#giveUp(account, job, taken, answer.reason);
    } else {
      const deleted = await store.finish(account, job, taken, { outcome: answer.outcome });
      if (deleted !== null) await store.release(deleted);
    }
  }

  /** Ends a push that was not delivered. A registration that was refused stays, but gets no pushes for a while. */
  async #giveUp(account: string, job: PushJob, taken: Taken, reason: string): Promise<void> {
    const end: Finish = { outcome: reason === EXPIRED || reason === TOO_BIG ? 'dropped' : 'suspend' };
    await this.#parts.store.finish(account, job, taken, end);
    this.#parts.metrics.push_dead_letters_total.inc({ platform: job.platform, reason });
  }
}
