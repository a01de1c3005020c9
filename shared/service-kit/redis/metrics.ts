import { histogram } from '../telemetry/metrics.ts';

/**
 * Seconds. A script takes some 10 microseconds, a round trip some 0.1 ms; after 2.5 s of silence its connection is closed.
 * Each label multiplies them, so they are few.
 */
const COMMAND_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 5];

/** What the script loader measures. */
export const SCRIPT_METRICS = {
  redis_command_duration_seconds: histogram(
    'Round trip of a script, by its module; `wait` is what waits for Redis replicas',
    COMMAND_BUCKETS,
    ['module'],
  ),
};
