import { counter, gauge } from '../../../../shared/service-kit/telemetry/metrics.ts';

/** Announcements between replicas. */
export const BUS_METRICS = {
  events_published_total: counter('Announcements to replicas, by whether their subscriber heard them', [
    'event',
    'outcome',
  ]),
  announcements_repeated_total: counter('Announcements that nobody heard at first, by what became of them', [
    'outcome',
  ]),
  accounts_notified_total: counter(
    'Accounts notified to compare positions, by why an announcement may have been lost',
    ['cause'],
  ),
  accounts_unnotified_total: counter('Accounts that could not be notified and are left to the sweep, by why', [
    'cause',
  ]),
  bus_connected: gauge('1 while the subscriber of this replica is connected'),
  bus_last_heard_timestamp_seconds: gauge("When this replica last heard its own channel's nonce"),
  bus_rebuilds_total: counter('How often the subscriber was thrown away and made anew'),
};
