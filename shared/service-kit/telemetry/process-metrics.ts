import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { gauge, type MetricsOf, readWhenScraped } from './metrics.ts';

/** Seconds. Each kind of collection has its own series, and some kinds come only after hours. */
const GC_BUCKETS = [0.1];

/**
 * How often the delay of the event loop is sampled. The library's 10 ms wake an idle process 100 times a second, which takes
 * 0.8 % of a processor. Node measures the time between two samples, and the delay is what exceeds this interval.
 */
const DELAY_SAMPLED_EVERY_MS = 100;

/**
 * Node's own metrics that are left out: series for each space of the heap and each kind of handle, because their sums stay;
 * figures of the event loop's delay that say less than its p99 and its maximum; and what `build_info` has.
 */
const NOT_OF_USE = [
  ...['_min', '_mean', '_stddev', '_p50', '_p90'].map((what) => `nodejs_eventloop_lag${what}_seconds`),
  'nodejs_version_info',
  ...['size_total', 'size_used', 'size_available'].map((what) => `nodejs_heap_space_${what}_bytes`),
  ...['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}`),
];

export const PROCESS_METRICS = {
  memory_limit_bytes: gauge('Memory limit of this process: that of its container or of the machine'),
  event_loop_utilization_ratio: gauge('Share of the time since the last scrape in which the event loop was busy'),
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
export function collectProcess(metrics: MetricsOf<typeof PROCESS_METRICS>, registry: Registry): void {
  const { event_loop_utilization_ratio: ratio, memory_limit_bytes: limit } = metrics;
  readWhenScraped(ratio, eventLoopUtilization());
  limit.set(Math.min(process.constrainedMemory() || totalmem(), totalmem()));
  collectDefaultMetrics({
    register: registry,
    gcDurationBuckets: GC_BUCKETS,
    eventLoopMonitoringPrecision: DELAY_SAMPLED_EVERY_MS,
  });
  for (const name of NOT_OF_USE) registry.removeSingleMetric(name);
}
