import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { gauge, type MetricsOf } from './metrics.ts';

/** The process. */
export const PROCESS_METRICS = {
  event_loop_utilization_ratio: gauge('Share of time in which the event loop was busy, since the last scrape'),
  build_info: gauge('Always 1; the labels tell what runs', ['version', 'node']),
};

function eventLoopUtilization(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

/** Fills the metrics of the process, and adds those of Node itself. */
export function collectProcess(
  metrics: MetricsOf<typeof PROCESS_METRICS>,
  { registry, version }: { registry: Registry; version: string },
): void {
  const { event_loop_utilization_ratio: ratio, build_info: build } = metrics;
  const utilization = eventLoopUtilization();
  // Asked for on every scrape.
  Object.assign(ratio, { collect: () => ratio.set(utilization()) });
  build.set({ version, node: process.version }, 1);
  collectDefaultMetrics({ register: registry });
}
