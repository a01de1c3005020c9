import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const counter = <const L extends string = never>(help: string, labels: readonly L[] = []) =>
  ({ kind: 'counter', help, labels }) as const;
const gauge = <const L extends string = never>(help: string, labels: readonly L[] = []) =>
  ({ kind: 'gauge', help, labels }) as const;
const histogram = <const L extends string = never>(help: string, buckets: number[], labels: readonly L[] = []) =>
  ({ kind: 'histogram', help, labels, buckets }) as const;

/*
 * Seconds. Each reaches past the slowest that is allowed, or a quantile of it would be no figure; and each label multiplies
 * them, so that what has labels has few.
 */

/** A poll waits 25 s at most, a body may stand still for 30 s. */
const REQUEST_BUCKETS = [0.01, 0.05, 0.1, 0.25, 1, 5, 30, 60];
/** The 2 s of the objective for streams can be read off a bucket. */
const OPEN_BUCKETS = [0.025, 0.1, 0.25, 0.5, 1, 2, 5, 15];
/** The 1 s of the delivery objective can be read off a bucket; an announcement that failed is repeated for half a minute. */
const DELIVERY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
/** A script takes some 10 microseconds, a round trip some 0.1 ms; after 2.5 s of silence its connection is closed. */
const COMMAND_BUCKETS = [0.001, 0.0025, 0.01, 0.05, 0.25, 1, 5];
/** Of Node's own: a collection of the young generation takes some milliseconds. */
const GC_BUCKETS = [0.01, 0.1, 1];

/** A push is to be at the push service within 2 s. */
const PUSH_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120];

/**
 * Every metric of the replica, without its prefix `baton_`. No ids in labels: each label takes a handful of values
 * known beforehand. Whoever counts writes `metrics.<name>`, so a misspelt name does not compile.
 */
const METRICS = {
  http_requests_total: counter('Requests answered, by route of the route table', ['route', 'method', 'status']),
  http_request_duration_seconds: histogram(
    'Time to answer a request, by where its route begins; event streams and bytes of files are not counted',
    REQUEST_BUCKETS,
    ['prefix'],
  ),
  http_connections_refused_total: counter(
    'Connections closed at once: too many of their `address`, or of the `replica`',
    ['cause'],
  ),
  problems_total: counter('Error answers by code of the error registry', ['code']),
  auth_rejections_total: counter('Requests refused because of who sent them', ['reason']),
  rate_limited_total: counter('Requests refused by a rate limit', ['group']),

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

  events_published_total: counter('Announcements to replicas, by whether their subscriber heard them', [
    'event',
    'outcome',
  ]),
  announcements_repeated_total: counter('Announcements that nobody heard at first, by what became of them', [
    'outcome',
  ]),
  accounts_rung_total: counter('Accounts rung to compare positions, by why an announcement may have been lost', [
    'cause',
  ]),
  accounts_unrung_total: counter('Accounts that could not be rung and are left to the sweep, by why', ['cause']),
  events_delivered_total: counter('Events written to streams', ['event']),
  delivery_latency_seconds: histogram('From the append of an event to the write on a stream', DELIVERY_BUCKETS),

  bus_connected: gauge('1 while the subscriber of this replica is connected'),
  bus_last_heard_timestamp_seconds: gauge("When this replica last heard its own channel's nonce"),
  bus_rebuilds_total: counter('How often the subscriber was thrown away and made anew'),
  nodes_live: gauge('Replicas that this replica believes alive, itself included'),
  nodes_reaped_total: counter('Dead replicas whose streams this replica announced offline, by why they fell to it', [
    'cause',
  ]),
  presence_transitions_total: counter('Devices announced online or offline', ['to']),

  redis_command_duration_seconds: histogram(
    'Round trip of a script, by its module; `wait` is what waits for Redis replicas',
    COMMAND_BUCKETS,
    ['module'],
  ),
  redis_up: gauge('1 while the store answers this replica'),
  redis_reconnects_total: counter('Reconnects to the store'),
  redis_evicts: gauge('1 when the store may evict keys, which loses data'),

  messages_total: counter('Messages accepted'),
  messages_unconfirmed_total: counter('Messages accepted that too few Redis replicas confirmed in time'),
  messages_unacked_pushed_total: counter('Pushes delivered because of messages that their device had not confirmed'),
  clipboard_writes_total: counter('Clipboard writes accepted'),
  transfers_total: counter('Transitions of transfers, by the state they led to', ['state']),
  relay_active: gauge('Relay requests under way', ['direction']),
  relay_buffered_bytes: gauge('Bytes of files that relay requests of this replica hold'),
  relay_bytes_total: counter('Bytes of files that came from senders and went to receivers', ['direction']),
  relay_rewinds_total: counter(
    'Uploads that had to go back: `asked` by a receiver, `lost` by the store, or `found` so by another request',
    ['cause'],
  ),
  relay_outcomes_total: counter('Relay requests that ended, by how', ['direction', 'outcome']),
  login_requests_total: counter('Login requests by QR, by what became of them', ['outcome']),
  broker_requests_total: counter('Calls to the auth broker, by how they ended', ['operation', 'outcome']),
  broker_breaker_open: gauge('1 while the auth broker is spared a kind of call that failed too often', ['operation']),
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
  due_reindexed_total: counter('Accounts with something due that the index had lost, or had too late'),
  due_run_total: counter('Things that became due and were run', ['kind', 'outcome']),
  background_failures_total: counter('Failures of work that no request waits for', ['task', 'code']),

  draining: gauge('1 while the replica is shutting down'),
  drain_duration_seconds: gauge('How long this replica has been draining'),
  drain_limit_seconds: gauge('After so long of a drain what is still open is cut'),
  memory_limit_bytes: gauge('Memory that this process may take: that of its container, or of the machine'),
  event_loop_utilization_ratio: gauge('Share of time in which the event loop was busy, since the last scrape'),
  build_info: gauge('Always 1; the labels tell what runs', ['version', 'node']),
};

type Row = (typeof METRICS)[keyof typeof METRICS];
type Labels<R extends Row> = R['labels'][number];
type MetricOf<R extends Row> = R['kind'] extends 'counter'
  ? Counter<Labels<R>>
  : R['kind'] extends 'gauge'
    ? Gauge<Labels<R>>
    : Histogram<Labels<R>>;

export type Metrics = { readonly [N in keyof typeof METRICS]: MetricOf<(typeof METRICS)[N]> } & {
  readonly registry: Registry;
};

/**
 * What alerts look at is there from the start: a counter that appears with its first value has not risen, as Prometheus
 * sees it.
 */
function beginAtZero(metrics: Metrics): void {
  for (const cause of ['died', 'orphaned', 'vanished']) metrics.nodes_reaped_total.inc({ cause }, 0);
  for (const reason of ['untrusted_edge', 'invalid_request']) metrics.auth_rejections_total.inc({ reason }, 0);
  for (const code of ['store_unavailable', 'relay_busy']) metrics.problems_total.inc({ code }, 0);
  for (const reason of ['gap', 'store_lost']) metrics.resets_total.inc({ reason }, 0);
}

const PREFIX = 'baton_';

/** Of Node's own: a series for each space of the heap and each kind of handle, of which the sums stay. */
const NOT_OF_USE = [
  ...['size_total', 'size_used', 'size_available'].map((what) => `nodejs_heap_space_${what}_bytes`),
  ...['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}`),
];

function make(name: string, row: Row, registry: Registry): Counter | Gauge | Histogram {
  const settings = { name: PREFIX + name, help: row.help, labelNames: [...row.labels], registers: [registry] };
  if (row.kind === 'counter') return new Counter(settings);
  if (row.kind === 'gauge') return new Gauge(settings);
  return new Histogram({ ...settings, buckets: row.buckets });
}

function eventLoopUtilization(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

/** All metrics and Node's own, on a registry of their own: two apps in one process do not count together. */
export function makeMetrics({ version }: { version: string }): Metrics {
  const registry = new Registry();
  const made = Object.fromEntries(Object.entries(METRICS).map(([name, row]) => [name, make(name, row, registry)]));
  const metrics = { ...made, registry } as unknown as Metrics;
  const utilization = eventLoopUtilization();
  // Asked for on every scrape.
  Object.assign(metrics.event_loop_utilization_ratio, {
    collect: () => metrics.event_loop_utilization_ratio.set(utilization()),
  });
  beginAtZero(metrics);
  metrics.build_info.set({ version, node: process.version }, 1);
  metrics.memory_limit_bytes.set(Math.min(process.constrainedMemory() || totalmem(), totalmem()));
  collectDefaultMetrics({ register: registry, gcDurationBuckets: GC_BUCKETS });
  for (const name of NOT_OF_USE) registry.removeSingleMetric(name);
  return metrics;
}

/** One row of the metrics table in the documentation. */
interface MetricRow {
  name: string;
  kind: Row['kind'];
  labels: readonly string[];
  help: string;
}

export const metricsTable = (): MetricRow[] =>
  Object.entries(METRICS).map(([name, { kind, labels, help }]) => ({ name: PREFIX + name, kind, labels, help }));
