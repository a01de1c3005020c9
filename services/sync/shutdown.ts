import type { Logger } from 'pino';
import type { Config } from './config/config.ts';
import { drainPlan } from './drain-plan.ts';
import { giveNotice } from '../../shared/service-kit/http/notice.ts';
import { readWhenScraped } from '../../shared/service-kit/telemetry/metrics.ts';
import type { Metrics } from './telemetry/metrics.ts';

const LAST_SCRAPE_MS = 1_000;

interface Stops {
  stop: () => unknown;
}
interface Closes {
  close: (deadlineMs: number) => Promise<void>;
}
interface Arrivals {
  isQuiet: (forMs: number) => boolean;
}

/** The running parts of a replica, as far as a stop needs them. */
interface Running {
  signin: { drain: () => void };
  hub: Stops & { closing: { drain: (overMs: number) => Promise<unknown> } };
  relay: { requests: { drain: (overMs: number) => Promise<unknown> }; bulk: Stops };
  /** The workers beside requests, in the order in which they stop: each before the parts that it uses. */
  workers: readonly Stops[];
  identity: Stops;
  bus: Stops;
  /** Settles when the start is over. The start may wait for the store. */
  started: Promise<unknown>;
  replica: Stops;
  store: Stops;
  broker: { close: () => Promise<void> } | null;
  ports: { publicServer: Closes & { endAfterAnswers: () => void }; adminServer: Closes; arrivals: Arrivals };
}

interface ShutdownParts {
  config: Pick<Config, 'drain'>;
  metrics: Pick<Metrics, 'draining' | 'drain_duration_seconds' | 'drain_limit_seconds'>;
  logger: Logger;
}

/** Makes the stop of a replica: it leaves the balancer, hands its clients over, then stops what they used. */
export function makeShutdown({ config: { drain }, metrics, logger }: ShutdownParts) {
  const plan = drainPlan(drain);
  let isDraining = false;
  let isStopping = false;
  let ending: Promise<void> | null = null;
  metrics.drain_limit_seconds.set((plan.noticeMs + Math.max(plan.streamsMs, plan.transfersMs)) / 1000);
  readWhenScraped(metrics.draining, () => Number(isDraining));

  const end = async (running: Running): Promise<void> => {
    const { hub, relay, ports } = running;
    const startedAt = performance.now();
    readWhenScraped(metrics.drain_duration_seconds, () => (performance.now() - startedAt) / 1000);
    isDraining = true;
    logger.info({ withinSeconds: plan.totalMs / 1000, noticeSeconds: plan.noticeMs / 1000 }, 'draining');
    ports.publicServer.endAfterAnswers();
    await giveNotice(plan.noticeMs, ports.arrivals);
    isStopping = true;
    running.signin.drain();
    await Promise.all([hub.closing.drain(plan.streamsMs), relay.requests.drain(plan.transfersMs)]);
    await ports.publicServer.close(plan.requestsMs);
    for (const worker of running.workers) await worker.stop();
    for (const part of [running.identity, hub, running.bus]) part.stop();
    await running.started;
    await running.replica.stop();
    running.store.stop();
    relay.bulk.stop();
    await running.broker?.close();
    await ports.adminServer.close(LAST_SCRAPE_MS);
    logger.info({ afterSeconds: Math.round((performance.now() - startedAt) / 100) / 10 }, 'stopped');
  };

  return {
    isDraining: (): boolean => isDraining,
    /** Whether the notice is over, so that nothing waits for the store from then on. */
    isStopping: (): boolean => isStopping,
    /** Stops the replica. Resolves when nothing is left. Repeated calls share one stop. */
    end(running: Running): Promise<void> {
      ending ??= end(running);
      return ending;
    },
  };
}
