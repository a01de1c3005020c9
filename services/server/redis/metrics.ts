import { histogram } from '../telemetry/metrics.ts';

/** Seconds. A script takes some 10 microseconds, a round trip some 0.1 ms. */
const COMMAND_BUCKETS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 3];

/** What the script loader measures. */
export const SCRIPT_METRICS = {
  redis_command_duration_seconds: histogram('Round trip of a script or command', COMMAND_BUCKETS, ['script']),
};
