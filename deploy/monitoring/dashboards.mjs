/*
 * The dashboards: their queries and titles. `npm run generate` makes Grafana's files from them in
 * helm/baton/files/dashboards, where the chart and docker-compose.yml find them. Every query gets the chosen installation
 * and replicas in its selectors. `$rate` is the interval that fits the panel.
 */

/** Returns a query for the rate a second, by these labels. */
const rate = (metric, ...labels) => {
  const legend = labels.map((label) => `{{${label}}}`).join(' ') || 'all';
  return { [legend]: `sum by (${labels.join(', ')}) (rate(${metric}[$rate]))` };
};
/** Returns a query for the time within which this share is done. */
const quantile = (share, metric, ...labels) => {
  const legend = [`p${share * 100}`, ...labels.map((label) => `{{${label}}}`)].join(' ');
  return {
    [legend]: `histogram_quantile(${share}, sum by (${['le', ...labels].join(', ')}) (rate(${metric}_bucket[$rate])))`,
  };
};
const each = (metric) => ({ '{{instance}}': metric });

const late = (le, metric) =>
  `1 - sum(rate(${metric}_bucket{le=~"${le}([.]0)?"}[$rate])) / sum(rate(${metric}_count[$rate]))`;

export const DASHBOARDS = {
  overview: {
    title: 'Baton: overview',
    panels: [
      { title: 'Alerts', unit: 'short', queries: { '{{alertname}} {{instance}}': 'ALERTS{alertstate="firing"}' } },
      { title: 'Answers', unit: 'reqps', queries: rate('baton_http_requests_total', 'status') },
      {
        title: 'Server errors (objective: 0.1 %)',
        unit: 'percentunit',
        queries: {
          '{{route}}':
            'sum by (route) (rate(baton_http_requests_total{status=~"5.."}[$rate])) / ignoring (route) group_left sum(rate(baton_http_requests_total[$rate]))',
        },
      },
      { title: 'Time to answer', unit: 's', queries: quantile(0.99, 'baton_http_request_duration_seconds', 'prefix') },
      {
        title: 'Objectives: events after 1 s (1 %), streams after 2 s (0.1 %)',
        unit: 'percentunit',
        queries: {
          'events too late': late('1', 'baton_delivery_latency_seconds'),
          'streams too late': late('2', 'baton_stream_open_duration_seconds'),
        },
      },
      {
        title: 'From append to stream',
        unit: 's',
        queries: {
          ...quantile(0.5, 'baton_delivery_latency_seconds'),
          ...quantile(0.99, 'baton_delivery_latency_seconds'),
        },
      },
      {
        title: 'Streams',
        unit: 'short',
        queries: { open: 'sum(baton_streams)', 'all that there is room for': 'sum(baton_streams_limit)' },
      },
      {
        title: 'What people do',
        unit: 'cps',
        queries: {
          messages: 'sum(rate(baton_messages_total[$rate]))',
          clipboard: 'sum(rate(baton_clipboard_writes_total[$rate]))',
          'transfers {{state}}': 'sum by (state) (rate(baton_transfers_total[$rate]))',
        },
      },
      {
        title: 'Replicas by version',
        unit: 'short',
        queries: { '{{version}}': 'count by (version) (baton_build_info)' },
      },
      { title: 'Error answers by code', unit: 'cps', queries: rate('baton_problems_total', 'code') },
      {
        title: 'Refused by limits',
        unit: 'cps',
        queries: {
          '{{group}}': 'sum by (group) (rate(baton_rate_limited_total[$rate]))',
          'connections: {{cause}}': 'sum by (cause) (rate(baton_http_connections_refused_total[$rate]))',
        },
      },
      {
        title: 'Failures in background work',
        unit: 'cps',
        queries: rate('baton_background_failures_total', 'task', 'code'),
      },
    ],
  },
  streams: {
    title: 'Baton: streams and drain',
    panels: [
      { title: 'Open', unit: 'short', queries: each('baton_streams') },
      { title: 'Opened, by how they began', unit: 'cps', queries: rate('baton_streams_opened_total', 'resume') },
      { title: 'Closed, by reason', unit: 'cps', queries: rate('baton_streams_closed_total', 'reason') },
      { title: 'Time to open', unit: 's', queries: quantile(0.99, 'baton_stream_open_duration_seconds') },
      { title: 'Told to fetch their state again', unit: 'cps', queries: rate('baton_resets_total', 'reason') },
      { title: 'Bytes held for slow readers', unit: 'bytes', queries: each('baton_stream_buffer_bytes') },
      { title: 'Events delivered', unit: 'cps', queries: rate('baton_events_delivered_total', 'event') },
      { title: 'Events missed when attached', unit: 'short', queries: quantile(0.99, 'baton_catchup_events') },
      { title: 'Devices that come and go', unit: 'cps', queries: rate('baton_presence_transitions_total', 'to') },
      { title: 'Found behind, by what noticed it', unit: 'cps', queries: rate('baton_gap_repairs_total', 'source') },
      { title: 'All attached again, by cause', unit: 'cps', queries: rate('baton_attach_rounds_total', 'cause') },
      { title: 'Other repairs', unit: 'cps', queries: rate('baton_repairs_total', 'cause') },
      { title: 'Draining', unit: 'short', queries: each('baton_draining') },
      {
        title: 'Time of a drain',
        unit: 's',
        queries: { '{{instance}}': 'baton_drain_duration_seconds', 'at most': 'max(baton_drain_limit_seconds)' },
      },
    ],
  },
  relay: {
    title: 'Baton: relay',
    panels: [
      { title: 'Bytes', unit: 'Bps', queries: rate('baton_relay_bytes_total', 'direction') },
      { title: 'Requests under way', unit: 'short', queries: { '{{instance}} {{direction}}': 'baton_relay_active' } },
      { title: 'Bytes held by requests', unit: 'bytes', queries: each('baton_relay_buffered_bytes') },
      {
        title: 'Ended requests, by outcome',
        unit: 'cps',
        queries: rate('baton_relay_outcomes_total', 'direction', 'outcome'),
      },
      {
        title: 'Uploads that began again at an earlier byte',
        unit: 'cps',
        queries: rate('baton_relay_rewinds_total', 'cause'),
      },
      { title: 'Transfers, by new state', unit: 'cps', queries: rate('baton_transfers_total', 'state') },
    ],
  },
  redis: {
    title: 'Baton: Redis and bus',
    panels: [
      { title: 'The store answers', unit: 'bool_yes_no', queries: each('baton_redis_up') },
      { title: 'The store may evict keys: data is lost', unit: 'bool_yes_no', queries: each('baton_redis_evicts') },
      { title: 'Clock ahead of the store’s', unit: 's', queries: each('baton_clock_skew_seconds') },
      {
        title: 'Memory of the store',
        unit: 'bytes',
        queries: {
          '{{store}} used': 'max by (store) (baton_redis_memory_used_bytes)',
          '{{store}} at most': 'max by (store) (baton_redis_memory_max_bytes)',
        },
      },
      {
        title: 'The store refuses writes, because it is full',
        unit: 'bool_yes_no',
        queries: { '{{instance}} {{store}}': 'baton_redis_full' },
      },
      { title: 'Reconnects', unit: 'cps', queries: rate('baton_redis_reconnects_total', 'instance') },
      {
        title: 'Time of scripts',
        unit: 's',
        queries: quantile(0.99, 'baton_redis_command_duration_seconds', 'module'),
      },
      {
        title: 'Scripts',
        unit: 'cps',
        queries: rate('baton_redis_command_duration_seconds_count', 'module'),
      },
      {
        title: 'Messages that too few Redis replicas confirmed',
        unit: 'cps',
        queries: rate('baton_messages_unconfirmed_total'),
      },
      { title: 'The bus is connected', unit: 'bool_yes_no', queries: each('baton_bus_connected') },
      {
        title: 'Time since a replica heard its own nonce',
        unit: 's',
        queries: { '{{instance}}': 'time() - baton_bus_last_heard_timestamp_seconds' },
      },
      { title: 'Subscribers replaced', unit: 'cps', queries: rate('baton_bus_rebuilds_total', 'instance') },
      { title: 'Announcements', unit: 'cps', queries: rate('baton_events_published_total', 'event', 'outcome') },
      { title: 'Repeated announcements', unit: 'cps', queries: rate('baton_announcements_repeated_total', 'outcome') },
      {
        title: 'Accounts notified to compare, or left to the sweep',
        unit: 'cps',
        queries: {
          'notified: {{cause}}': 'sum by (cause) (rate(baton_accounts_notified_total[$rate]))',
          'left: {{cause}}': 'sum by (cause) (rate(baton_accounts_unnotified_total[$rate]))',
        },
      },
      { title: 'Replicas alive, as each believes', unit: 'short', queries: each('baton_nodes_live') },
      { title: 'Dead replicas taken over', unit: 'cps', queries: rate('baton_nodes_reaped_total', 'cause') },
      {
        title: 'Due jobs that were run',
        unit: 'cps',
        queries: {
          ...rate('baton_due_run_total', 'kind', 'outcome'),
          'put back into the index': 'sum(rate(baton_due_reindexed_total[$rate]))',
        },
      },
    ],
  },
  runtime: {
    title: 'Baton: runtime',
    panels: [
      { title: 'Event loop busy', unit: 'percentunit', queries: each('baton_event_loop_utilization_ratio') },
      {
        title: 'Delay of the event loop',
        unit: 's',
        // The metric is the time between two samples, which should be 0.1 s apart (process-metrics.ts).
        queries: { 'p99 {{instance}}': 'clamp_min(nodejs_eventloop_lag_p99_seconds - 0.1, 0)' },
      },
      { title: 'Processors', unit: 'short', queries: rate('process_cpu_seconds_total', 'instance') },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: { '{{instance}}': 'process_resident_memory_bytes', 'at most': 'min(baton_memory_limit_bytes)' },
      },
      {
        title: 'Heap, and memory beside it',
        unit: 'bytes',
        queries: {
          'heap {{instance}}': 'nodejs_heap_size_used_bytes',
          'beside {{instance}}': 'nodejs_external_memory_bytes',
        },
      },
      {
        title: 'Time in garbage collection',
        unit: 'percentunit',
        queries: { '{{kind}}': 'sum by (kind) (rate(nodejs_gc_duration_seconds_sum[$rate]))' },
      },
      {
        title: 'Open files',
        unit: 'short',
        queries: { '{{instance}}': 'process_open_fds', 'at most': 'min(process_max_fds)' },
      },
      { title: 'Up for', unit: 's', queries: { '{{instance}}': 'time() - process_start_time_seconds' } },
      { title: 'Node', unit: 'short', queries: { '{{node}}': 'count by (node) (baton_build_info)' } },
    ],
  },
  signin: {
    title: 'Baton: sign-in and push',
    panels: [
      { title: 'Login requests', unit: 'cps', queries: rate('baton_login_requests_total', 'outcome') },
      {
        title: 'Refused because of their identity',
        unit: 'cps',
        queries: rate('baton_auth_rejections_total', 'reason'),
      },
      {
        title: 'Keys of accounts',
        unit: 'cps',
        queries: {
          '{{what}} in force': 'sum by (what) (rate(baton_keyring_writes_total[$rate]))',
          'refused, for no member has signed it': 'sum(rate(baton_keyring_unsigned_total[$rate]))',
        },
      },
      {
        title: 'Calls to the auth broker',
        unit: 'cps',
        queries: rate('baton_broker_requests_total', 'operation', 'outcome'),
      },
      {
        title: 'Calls withheld from the auth broker',
        unit: 'bool_yes_no',
        queries: { '{{operation}}': 'max by (operation) (baton_broker_breaker_open)' },
      },
      { title: 'The auth broker can be used', unit: 'bool_yes_no', queries: each('baton_broker_up') },
      {
        title: 'The reference broker is ready, and can use its store',
        unit: 'bool_yes_no',
        queries: {
          'ready {{instance}}': 'baton_auth_broker_ready',
          'store {{instance}}': 'baton_auth_broker_redis_up',
        },
      },
      {
        title: 'Answers of the reference broker',
        unit: 'reqps',
        queries: rate('baton_auth_broker_requests_total', 'route', 'status'),
      },
      {
        title: 'Time of the reference broker to answer',
        unit: 's',
        queries: quantile(0.99, 'baton_auth_broker_request_duration_seconds', 'route'),
      },
      {
        title: 'Reference brokers by version',
        unit: 'short',
        queries: { '{{version}}': 'count by (version) (baton_auth_broker_build_info)' },
      },
      { title: 'Pushes', unit: 'cps', queries: rate('baton_push_sent_total', 'platform', 'outcome') },
      {
        title: 'Pushes tried again later',
        unit: 'cps',
        queries: rate('baton_push_retries_total', 'platform', 'reason'),
      },
      { title: 'Pushes given up', unit: 'cps', queries: rate('baton_push_dead_letters_total', 'platform', 'reason') },
      { title: 'Pushes that nobody needed any more', unit: 'cps', queries: rate('baton_push_dropped_total', 'reason') },
      {
        title: 'From due until the push service took it',
        unit: 's',
        queries: quantile(0.99, 'baton_push_delay_seconds'),
      },
      { title: 'Pushes waiting', unit: 'short', queries: each('baton_push_queue_depth') },
      {
        title: 'Pushes for unacknowledged messages',
        unit: 'cps',
        queries: rate('baton_messages_unacked_pushed_total'),
      },
    ],
  },
};
