import { counter, gauge, histogram } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Buckets in seconds. The objective for streams, 2 s, is one of them. */
const OPEN_BUCKETS = [0.025, 0.1, 0.25, 0.5, 1, 2, 5, 15];
/**
 * Buckets in seconds. The objective for delivery, 1 s, is one of them. A failed announcement is repeated for half a
 * minute.
 */
const DELIVERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** Event streams and what is delivered on them. */
export const STREAM_METRICS = {
  streams: gauge('Event streams open on this replica'),
  streams_limit: gauge('Most event streams that this replica accepts'),
  streams_opened_total: counter('Opened event streams, by how they began', ['resume']),
  streams_closed_total: counter('Ended event streams, by reason', ['reason']),
  stream_open_duration_seconds: histogram(
    'Time from an authenticated request for an event stream to its `ready`',
    OPEN_BUCKETS,
  ),
  stream_buffer_bytes: gauge('Bytes that all event streams hold for slow readers'),
  catchup_events: histogram('Number of events that a stream had missed when it attached', [0, 1, 4, 16, 64, 128, 256]),
  resets_total: counter('Streams told to fetch their state again', ['reason']),
  attach_rounds_total: counter(
    'Times that all streams were attached again because events may have been missed, by cause',
    ['cause'],
  ),
  gap_repairs_total: counter(
    'Streams that were behind and were repaired, by what noticed it: gap, sweep, again, or the cause of a round',
    ['source'],
  ),
  repairs_total: counter('Repairs of anything but streams that were behind, by what was wrong', ['cause']),
  events_delivered_total: counter('Events written to streams', ['event']),
  delivery_latency_seconds: histogram('Time from the append of an event to the write on a stream', DELIVERY_BUCKETS),
};
