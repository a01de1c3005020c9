import { counter, gauge, histogram } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Seconds. The target is 2 s from due to the push service. */
const PUSH_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120, 600, 3_600];

export const PUSH_METRICS = {
  push_sent_total: counter('Tries to send a push, by outcome', ['platform', 'outcome']),
  push_retries_total: counter('Pushes put off for another try, by reason', ['platform', 'reason']),
  push_dropped_total: counter('Pushes not sent because nobody needed them any more, by reason', ['reason']),
  push_dead_letters_total: counter(
    'Pushes given up, by reason: expired, the answer of the push service, or settings that no replica had',
    ['platform', 'reason'],
  ),
  push_delay_seconds: histogram(
    'Time from when a push was first due until a push service took it, retries included',
    PUSH_BUCKETS,
  ),
  push_queue_depth: gauge('Pushes that wait in this replica or are being sent'),
  messages_unacked_pushed_total: counter('Pushes delivered for messages that the device had not acknowledged'),
};
