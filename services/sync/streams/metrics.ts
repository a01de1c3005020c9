import { counter, gauge, histogram, LATENCY_BUCKETS } from '../../server/telemetry/metrics.ts';

/** Event streams and what is delivered on them. */
export const STREAM_METRICS = {
  streams: gauge('Event streams open on this replica'),
  streams_limit: gauge('Event streams that this replica accepts'),
  streams_opened_total: counter('Event streams opened, by how they started', ['resume']),
  streams_closed_total: counter('Event streams ended, by cause', ['reason']),
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
  delivery_latency_seconds: histogram('From the append of an event to the write on a stream', LATENCY_BUCKETS),
};
