import { counter, gauge } from '../../../../shared/service-kit/telemetry/metrics.ts';

export const BUS_METRICS = {
  events_published_total: counter('Announcements to replicas, by event and by whether the subscriber heard them', [
    'event',
    'outcome',
  ]),
  announcements_repeated_total: counter('Repeated announcements, which nobody had heard at first, by outcome', [
    'outcome',
  ]),
  accounts_notified_total: counter(
    'Accounts whose streams compare positions because an announcement may be lost, by reason',
    ['cause'],
  ),
  accounts_unnotified_total: counter('Accounts that could not be notified and are left to the sweep, by reason', [
    'cause',
  ]),
  bus_connected: gauge('1 while the subscriber of this replica is connected'),
  bus_last_heard_timestamp_seconds: gauge("When this replica last heard its own channel's nonce"),
  bus_rebuilds_total: counter('Times that the subscriber was replaced by a new one'),
};
