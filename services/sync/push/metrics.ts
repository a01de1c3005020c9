import { counter, gauge, histogram } from '../../../shared/service-kit/telemetry/metrics.ts';

/** Seconds. The target is 2 s from due to the push service. */
const PUSH_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120];

/** Pushes. */
export const PUSH_METRICS = {
  push_sent_total: counter('Pushes that a push service was asked to carry, by what became of them', [
    'platform',
    'outcome',
  ]),
  push_retries_total: counter('Pushes that are tried again later, by why', ['platform', 'reason']),
  push_dropped_total: counter('Pushes that were not sent because nobody needed them any more, by why', ['reason']),
  push_dead_letters_total: counter('Pushes given up: too late, or refused by the push service, by what it said', [
    'platform',
    'reason',
  ]),
  push_delay_seconds: histogram('From when a push was due to when a push service had it, of first tries', PUSH_BUCKETS),
  push_queue_depth: gauge('Pushes that wait in this replica, or are under way'),
  messages_unacked_pushed_total: counter('Pushes delivered because of messages that their device had not confirmed'),
};
