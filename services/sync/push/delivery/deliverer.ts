import { LIMITS } from '../../../../shared/contract/limits.ts';
import { readWhenScraped } from '../../../../shared/service-kit/telemetry/metrics.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { parseJob, type PushJob } from './jobs.ts';
import { type Lanes, makeLanes } from '../../lanes.ts';
import type { Notices } from './notice.ts';
import type { PushSender } from '../sender.ts';
import type { PushStore, Taken } from '../store.ts';
import { type Verdict, verdictOn, verdictOnLate } from './verdict.ts';

/**
 * The most pushes that may wait for one push service, for each that may be under way there. At 50 ms each, 200 are sent
 * in the ten seconds until the account is checked again; further pushes stay due. The second limit is for pushes that
 * other replicas accepted. It is lower, because those replicas send them.
 */
const [MOST_WAITING, MOST_TAKEN_OVER] = [200, 100];
/**
 * With this many pushes in the replica, a push service may have no more pushes waiting than under way. So no push
 * service crowds out the others.
 */
const MANY_WAITING = 10_000;
/** The lookups of targets at once, and the pause after each, so that thousands of queued pushes do not come in a burst. */
const [LOOKUPS, LOOKUP_PAUSE_MS] = [2, 1];

/** The pause between two pushes. Encrypting and sending one takes some 1.4 ms of this process. */
const PACE_MS = 2;

/** The outcome of a try in the metrics. */
const COUNTED_AS = {
  delivered: 'delivered',
  gone: 'gone',
  retry: 'retry',
  not_here: 'retry',
  suspend: 'failed',
  dropped: 'failed',
} as const satisfies Record<Verdict['outcome'], string>;

/**
 * Returns when the push was first due. Another try, or the death of its replica, has postponed the stored time since.
 * So the time of its newest item limits the result: only an offer waits longer for a stream than `pushSilenceMs`.
 */
function firstDueAtMs({ attempts, dueAtMs, sinceMs }: Taken, { kind }: PushJob): number {
  if (attempts > 0) return sinceMs;
  return kind === 'transfer' ? dueAtMs : Math.min(dueAtMs, sinceMs + LIMITS.pushSilenceMs);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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
 * at once. So its lease covers only the sending, and other replicas can help with what waits here.
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

  /** Starts a push if there is space for it. Otherwise it stays due, and the sweep of due jobs finds it. */
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
    if (leftMs <= 0) return this.#settle(account, job, taken, verdictOnLate(taken));
    const notice = notices.noticeOf(account, job, taken, leftMs);
    await this.#pace();
    const verdict = verdictOn(await sender.send(registration.target, notice), taken, leftMs);
    metrics.push_sent_total.inc({ platform: job.platform, outcome: COUNTED_AS[verdict.outcome] });
    if (verdict.outcome === 'delivered') {
      if (job.kind === 'message') metrics.messages_unacked_pushed_total.inc();
      metrics.push_delay_seconds.observe(
        (taken.nowMs - firstDueAtMs(taken, job) + performance.now() - takenAt) / 1_000,
      );
    }
    await this.#settle(account, job, taken, verdict);
  }

  /** Spaces pushes out, so that events are delivered in between. */
  #pace(): Promise<void> {
    this.#pacing = this.#pacing.then(() => pause(PACE_MS));
    return this.#pacing;
  }

  async #settle(account: string, job: PushJob, taken: Taken, verdict: Verdict): Promise<void> {
    const { store, scheduleDue, metrics } = this.#parts;
    const { platform } = job;
    if ('inMs' in verdict) {
      metrics.push_retries_total.inc({ platform, reason: verdict.reason });
      await scheduleDue(account, verdict.inMs);
    }
    const deleted = await store.finish(account, job, taken, verdict);
    if (deleted !== null) await store.release(deleted);
    if (verdict.outcome === 'suspend' || verdict.outcome === 'dropped') {
      metrics.push_dead_letters_total.inc({ platform, reason: verdict.reason });
    }
  }
}
