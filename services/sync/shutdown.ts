import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Metrics } from './telemetry/metrics.ts';

/** A balancer takes this long to notice that `/readyz` is off; until then new requests still arrive. */
const STILL_ACCEPTING_MS = 10_000;
/** What still runs after the drain, a listing or a poll that was just answered, is cut after so long. */
const LAST_REQUESTS_MS = 5_000;
const LAST_SCRAPE_MS = 1_000;

interface Stops {
  stop: () => unknown;
}
interface Closes {
  close: (deadlineMs: number) => Promise<void>;
}

/** What runs in a replica, as far as stopping goes. */
interface Running {
  signin: { drain: () => void };
  hub: Stops & { drain: (overMs: number) => Promise<unknown> };
  relay: { requests: { drain: (overMs: number) => Promise<unknown> }; bulk: Stops };
  /** What works beside requests, in the order in which it is stopped: before what it uses. */
  workers: readonly Stops[];
  identity: Stops;
  bus: Stops;
  /** Settles when the start, which may wait for the store, is over. */
  started: Promise<unknown>;
  replica: Stops;
  store: Stops;
  broker: { close: () => Promise<void> } | null;
  ports: { publicServer: Closes; adminServer: Closes };
}

interface ShutdownParts {
  config: Pick<Config, 'drain'>;
  metrics: Pick<Metrics, 'drain_duration_seconds'>;
  logger: Logger;
}

/** How a replica ends: it takes itself off the balancer, hands its clients over, then stops what they used. */
export function makeShutdown({ config: { drain }, metrics, logger }: ShutdownParts) {
  const acceptingMs = drain.streamsSeconds > 0 ? STILL_ACCEPTING_MS : 0;
  let isDraining = false;
  let isStopping = false;
  let ending: Promise<void> | null = null;

  const end = async (running: Running): Promise<void> => {
    const { hub, relay, ports } = running;
    const startedAt = performance.now();
    const tookSoFar = metrics.drain_duration_seconds;
    Object.assign(tookSoFar, { collect: () => tookSoFar.set((performance.now() - startedAt) / 1000) });
    isDraining = true;
    await delay(acceptingMs);
    isStopping = true;
    running.signin.drain();
    await Promise.all([hub.drain(drain.streamsSeconds * 1000), relay.requests.drain(drain.transfersSeconds * 1000)]);
    await ports.publicServer.close(LAST_REQUESTS_MS);
    for (const worker of running.workers) await worker.stop();
    for (const part of [running.identity, hub, running.bus]) part.stop();
    await running.started;
    await running.replica.stop();
    running.store.stop();
    relay.bulk.stop();
    await running.broker?.close();
    await ports.adminServer.close(LAST_SCRAPE_MS);
    logger.info('stopped');
  };

  return {
    isDraining: (): boolean => isDraining,
    /** After so long what is still open is cut. */
    limitMs: acceptingMs + Math.max(drain.streamsSeconds, drain.transfersSeconds) * 1000,
    /** Nobody is waited for any more. */
    isStopping: (): boolean => isStopping,
    /** Resolves when nothing is left. Repeated calls are one. */
    end(running: Running): Promise<void> {
      ending ??= end(running);
      return ending;
    },
  };
}
