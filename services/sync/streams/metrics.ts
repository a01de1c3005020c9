import { counter, gauge, histogram } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Buckets in seconds. One is the 2 s of the objective for streams. */
const OPEN_BUCKETS = [0.025, 0.1, 0.25, 0.5, 1, 2, 5, 15];
/**
 * Buckets in seconds. One is the 1 s of the delivery objective; a failed announcement is repeated for half a minute.
 */
const DELIVERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** Event streams and what is delivered on them. */
export const STREAM_METRICS = {
  streams: gauge('Event streams open on this replica'),
  streams_limit: gauge('Event streams that this replica accepts'),
  streams_opened_total: counter('Event streams opened, by how they started', ['resume']),
  streams_closed_total: counter('Event streams ended, by cause', ['reason']),
  stream_open_duration_seconds: histogram(
    'From when an event stream was asked for, by somebody who is known, to its `ready`',
    OPEN_BUCKETS,
  ),
  stream_buffer_bytes: gauge('Bytes that all event streams hold for slow readers'),
  catchup_events: histogram('Events that a stream was behind when it attached', [0, 1, 4, 16, 64, 128, 256]),
  resets_total: counter('Streams told to fetch their state again', ['reason']),
  attach_rounds_total: counter('Times that all streams were attached again, by why something may have been missed', [
    'cause',
  ]),
  gap_repairs_total: counter(
    'Streams found behind and repaired, by what noticed it: gap, sweep, again, or the cause of a round',
    ['source'],
  ),
  repairs_total: counter('Other repairs than of streams that were behind, by what was wrong', ['cause']),
  events_delivered_total: counter('Events written to streams', ['event']),
  delivery_latency_seconds: histogram('From the append of an event to the write on a stream', DELIVERY_BUCKETS),
};
