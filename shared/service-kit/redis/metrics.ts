import { histogram } from '../telemetry/metrics.ts';

/**
 * Seconds. A script takes some 10 microseconds, a round trip some 0.1 ms. After 2.5 s of silence its connection is closed.
 * There are few buckets, because each label multiplies them.
 */
const COMMAND_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 5];

/** The metrics of the script loader. */
export const SCRIPT_METRICS = {
  redis_command_duration_seconds: histogram(
    'Round trip of a script, by its module; `wait` is what waits for Redis replicas',
    COMMAND_BUCKETS,
    ['module'],
  ),
};
