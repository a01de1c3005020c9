import type { Metrics } from './metrics.ts';

/** The state of a replica at the moment of a scrape. */
export interface Readings {
  streams: () => number;
  streamsLimit: number;
  bufferedBytes: () => number;
  busSilentForMs: () => number;
  liveReplicas: () => number;
  isDraining: () => boolean;
  drainLimitMs: number;
  isStoreUp: () => boolean;
  /** Returns null before the first beat. */
  clockSkewMs: () => number | null;
  storeNowMs: () => number;
}

/** How long the bus may be silent before it counts as disconnected: three nonces. */
const BUS_SILENT_MS = 6_000;

/**
 * Binds the gauges to the readings. Gauges are read when they are scraped, so that nothing has to keep them up to date.
 */
export function bindGauges(metrics: Metrics, readings: Readings): void {
  const bind = (
    name:
      | 'streams'
      | 'stream_buffer_bytes'
      | 'bus_connected'
      | 'nodes_live'
      | 'draining'
      | 'redis_up'
      | 'clock_skew_seconds',
    read: () => number,
  ) => Object.assign(metrics[name], { collect: () => metrics[name].set(read()) });
  bind('streams', readings.streams);
  bind('stream_buffer_bytes', readings.bufferedBytes);
  bind('bus_connected', () => Number(readings.busSilentForMs() < BUS_SILENT_MS));
  bind('nodes_live', readings.liveReplicas);
  bind('draining', () => Number(readings.isDraining()));
  bind('clock_skew_seconds', () => (readings.clockSkewMs() ?? 0) / 1000);
  bind('redis_up', () => Number(readings.isStoreUp()));
  Object.assign(metrics.bus_last_heard_timestamp_seconds, {
    collect: () =>
      metrics.bus_last_heard_timestamp_seconds.set((readings.storeNowMs() - readings.busSilentForMs()) / 1000),
  });
  metrics.streams_limit.set(readings.streamsLimit);
  metrics.drain_limit_seconds.set(readings.drainLimitMs / 1000);
}
