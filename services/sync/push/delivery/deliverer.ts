import type { Metrics } from '../../telemetry/metrics.ts';
import { parseJob, type PushJob } from './jobs.ts';
import { type Lanes, makeLanes } from './lanes.ts';
import type { Notices } from './notice.ts';
import type { PushOutcome, PushSender } from '../sender.ts';
import type { Finish, PushStore, Registration, Taken } from '../store.ts';

/**
 * How many pushes may wait for one push service, as a multiple of those under way there: what is sent in ten seconds,
 * until the account is checked again, if each takes 50 ms. More stay due. Fewer of those that other replicas accepted,
 * because those send them.
 */
const [MOST_WAITING, MOST_TAKEN_OVER] = [200, 100];
/** In this replica. With more, no push service may have more waiting than under way, so that none crowds out another. */
const MANY_WAITING = 10_000;
/** Lookups of targets at once, and the pause after each, so that thousands of queued pushes do not come in a burst. */
const [LOOKUPS, LOOKUP_PAUSE_MS] = [2, 1];

/** The pause between two tries: doubled each time, up to the longest. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [5_000, 900_000];

/** The pause between two pushes: to encrypt and send one takes some 1.4 ms of this process. */
const PACE_MS = 2;

/** Too big for the push service even without its preview. This push is over; its registration stays active. */
const TOO_BIG = 'status 413';
/** Its time was over before a push service took it. */
const EXPIRED = 'expired';

/** `gone` as of a time before the registration means an older one: the provider has not seen this one yet. */
function judged(answer: PushOutcome, { fence }: Registration): PushOutcome {
  const isStale = answer.outcome === 'gone' && answer.asOfMs !== undefined && answer.asOfMs < Number(fence);
  return isStale ? { outcome: 'retry', afterMs: null, reason: 'renewed_since' } : answer;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The pause before the next try. With jitter, so that what failed together is not tried together. Never shorter than the
 * push service asked for, and not shorter than without its answer, for a service that says "at once" each time.
 */
export function pauseMs(attempts: number, afterMs: number | null): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts, 20));
  const ours = longest * (0.5 + Math.random() / 2);
  return afterMs === null ? ours : Math.max(ours, afterMs + Math.random() * Math.max(1_000, afterMs / 5));
}

interface DelivererParts {
  store: PushStore;
  /** Waits for the keys, which may lie in the store. */
  outbox: () => Promise<{ sender: PushSender; notices: Notices }>;
  /** Pushes at once at one provider. */
  concurrency: number;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  metrics: Metrics;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Sends the pushes that are due: at least once, on whatever replica takes one first. A push is taken only when it can be
 * sent at once. So its lease covers the sending alone, and other replicas can help with what waits here.
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
    Object.assign(parts.metrics.push_queue_depth, {
      collect: () => parts.metrics.push_queue_depth.set(this.#here.size),
    });
  }

  /** Sends a push that this replica accepted, as soon as its provider has a free slot. */
  push(account: string, text: string): void {
    this.#start(account, text, MOST_WAITING);
  }

  /** Sends a push that another replica may have accepted, if few wait for its provider here. */
  takeOver(account: string, text: string): void {
    this.#start(account, text, MOST_TAKEN_OVER);
  }

  /** A push that finds no slot stays due, and the sweep of due things finds it. */
  #start(account: string, text: string, most: number): void {
    const name = `${account} ${text}`;
    // Lookups wait only for our own store, so they share one lane.
    if (this.#isStopped || this.#here.has(name) || this.#lookups.waiting('') >= MANY_WAITING) return;
    const work = this.#work(account, parseJob(text), most)
      // The lease lapses, and then the push is due again.
      .catch((error: unknown) => this.#parts.onFailure('push', error))
      .finally(() => this.#here.delete(name));
    this.#here.set(name, work);
  }

  /** Resolves when what is under way has ended. */
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
    const answer = judged(await sender.send(registration.target, notice), registration);
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
    answer: PushOutcome,
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

  /** Ends a push that was not delivered. A registration that was refused stays, and gets nothing for a while. */
  async #giveUp(account: string, job: PushJob, taken: Taken, reason: string): Promise<void> {
    const end: Finish = { outcome: reason === EXPIRED || reason === TOO_BIG ? 'dropped' : 'suspend' };
    await this.#parts.store.finish(account, job, taken, end);
    this.#parts.metrics.push_dead_letters_total.inc({ platform: job.platform, reason });
  }
}
