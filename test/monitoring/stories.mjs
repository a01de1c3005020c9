/*
 * Each alert has a story in which it fires and one in which it stays quiet, with a minute a step. `series` have the form of
 * Prometheus' rule tests (`0+60x90`: from 0, 60 more each minute, 90 times); the job is added. `at` is the minute of the check,
 * and `fires` is what fires then.
 */

/** The labels of two replicas. A story about one replica uses the first. */
const [A, B] = ['instance="a"', 'instance="b"'];
const answers = (status, route = '/api/message') =>
  `baton_http_requests_total{${A},route="${route}",method="POST",status="${status}"}`;
const within = (le) => `baton_delivery_latency_seconds_bucket{${A},le="${le}"}`;
const DELIVERED = `baton_delivery_latency_seconds_count{${A}}`;
const outcome = (direction, word) => `baton_relay_outcomes_total{${A},direction="${direction}",outcome="${word}"}`;
const pushed = (word, platform = 'web') => `baton_push_sent_total{${A},platform="${platform}",outcome="${word}"}`;
const asked = (word) => `baton_broker_requests_total{${A},operation="mint",outcome="${word}"}`;
const OPENED = `baton_streams_opened_total{${A},resume="resumed"}`;
const used = (store) => `baton_redis_memory_used_bytes{${A},store="${store}"}`;
const most = (store) => `baton_redis_memory_max_bytes{${A},store="${store}"}`;
const full = (store) => `baton_redis_full{${A},store="${store}"}`;
const rejected = (instance) => `baton_auth_rejections_total{${instance},reason="unauthenticated"}`;
const build = (instance) => `baton_build_info{${instance},version="1",node="v24"}`;
const up = (instance) => `up{${instance}}`;
const critical = (summary, labels = {}) => ({ severity: 'critical', labels, summary });
const warning = (summary, labels = {}) => ({ severity: 'warning', labels, summary });
const [ON_A, NO_LABELS] = [{ instance: 'a' }, {}];
export const STORIES = [
  {
    alert: 'ApiErrorBudgetBurn',
    story: 'one answer in twenty is an error, for an hour',
    series: { [answers(201)]: '0+570x90', [answers(500)]: '0+30x90' },
    at: 70,
    fires: [
      critical('5% of the answers of baton are server errors'),
      warning('5% of the answers of baton are server errors, for hours'),
    ],
  },
  {
    alert: 'ApiErrorBudgetBurn',
    story: 'one answer in a hundred is an error, for hours',
    series: { [answers(201)]: '0+990x400', [answers(503)]: '0+10x400' },
    at: 390,
    fires: [warning('1% of the answers of baton are server errors, for hours')],
  },
  {
    alert: 'ApiErrorBudgetBurn',
    story: 'refusals of clients, a few errors at night, and a relay without memory',
    series: {
      [answers(201)]: '0+10x400',
      [answers(429)]: '0+30x400',
      [answers(500)]: '0 0 3+0x398',
      [answers(503, '/api/relay/{transfer_id}/{index}/{generation}')]: '0+30x400',
    },
    at: 390,
    fires: [],
  },
  {
    alert: 'DeliveryLatencyBurn',
    story: 'one event in four is late, as Prometheus 2 writes the bucket',
    series: { [within('1')]: '0+75x90', [DELIVERED]: '0+100x90' },
    at: 70,
    fires: [
      critical('25% of the events of baton arrive more than 1 s late'),
      warning('25% of the events of baton arrive more than 1 s late, for hours'),
    ],
  },
  {
    alert: 'DeliveryLatencyBurn',
    story: 'one event in ten is late for hours, as Prometheus 3 writes the bucket',
    series: { [within('1.0')]: '0+90x400', [DELIVERED]: '0+100x400' },
    at: 390,
    fires: [warning('10% of the events of baton arrive more than 1 s late, for hours')],
  },
  {
    alert: 'DeliveryLatencyBurn',
    story: 'one event in a hundred is late; and in a short night half of twenty',
    series: { [within('1')]: '0+99x300 29700+1x10 29710+0x90', [DELIVERED]: '0+100x300 30000+2x10 30020+0x90' },
    at: 390,
    fires: [],
  },
  {
    alert: 'BusStale',
    story: 'a replica hears nothing while the store answers it',
    series: {
      [`baton_bus_last_heard_timestamp_seconds{${A}}`]: '60+0x10',
      [`baton_redis_up{${A}}`]: '1+0x10',
    },
    at: 4,
    fires: [critical('a has received nothing through Redis for 3m 0s', ON_A)],
  },
  {
    alert: 'BusStale',
    story: 'a replica hears its nonce; another hears nothing because the store is away',
    series: {
      [`baton_bus_last_heard_timestamp_seconds{${A}}`]: '0+60x10',
      [`baton_redis_up{${A}}`]: '1+0x10',
      [`baton_bus_last_heard_timestamp_seconds{${B}}`]: '60+0x10',
      [`baton_redis_up{${B}}`]: '0+0x10',
    },
    at: 8,
    fires: [],
  },
  {
    alert: 'RedisUnavailable',
    story: 'the store answers one replica, and not the other',
    series: { [`baton_redis_up{${A}}`]: '1+0x10', [`baton_redis_up{${B}}`]: '1 1 0+0x8' },
    at: 4,
    fires: [critical('baton cannot use Redis')],
  },
  {
    alert: 'RedisUnavailable',
    story: 'a part of a cluster is away',
    series: {
      [`baton_redis_up{${A}}`]: '1+0x10',
      [`baton_problems_total{${A},code="store_unavailable"}`]: '0 0 0+30x8',
    },
    at: 6,
    fires: [critical('baton cannot use Redis')],
  },
  {
    alert: 'RedisUnavailable',
    story: 'a failover: some requests are refused',
    series: {
      [`baton_redis_up{${A}}`]: '1+0x10',
      [`baton_problems_total{${A},code="store_unavailable"}`]: '0 0 12+0x8',
    },
    at: 4,
    fires: [],
  },
  {
    alert: 'RedisMemoryHigh',
    story: 'nine tenths of the memory of the store are used for a quarter of an hour',
    series: { [used('main')]: '900+0x30', [most('main')]: '1000+0x30' },
    at: 20,
    fires: [warning('The main store of baton has used 90% of its memory', { store: 'main' })],
  },
  {
    alert: 'RedisMemoryHigh',
    story: 'the relay fills its part for some minutes, and a store without a limit grows',
    series: {
      [used('relay')]: '700+0x5 900+0x5 700+0x20',
      [most('relay')]: '1000+0x30',
      [used('main')]: '900+100x30',
      [most('main')]: '0+0x30',
    },
    at: 20,
    fires: [],
  },
  {
    alert: 'RedisFull',
    story: 'the store of a replica takes no more',
    series: { [full('main')]: '0+0x5 1+0x20' },
    at: 10,
    fires: [
      critical('The main store of baton refuses writes, because its memory or its disk is full', { store: 'main' }),
    ],
  },
  {
    alert: 'RedisFull',
    story: 'the relay was full for a moment',
    series: { [full('relay')]: '0+0x5 1 0+0x20' },
    at: 6,
    fires: [],
  },
  {
    alert: 'ReconnectStorm',
    story: 'each stream is opened once a minute',
    series: { [`baton_streams{${A}}`]: '500+0x20', [OPENED]: '0+500x20' },
    at: 10,
    fires: [warning('Each stream of baton was opened more than three times in 5 min')],
  },
  {
    alert: 'ReconnectStorm',
    story: 'a deploy: every stream moves twice, and rotation goes on',
    series: { [`baton_streams{${A}}`]: '500+0x20', [OPENED]: '0+40x5 1200+40x15' },
    at: 7,
    fires: [],
  },
  {
    alert: 'StreamCapacityHigh',
    story: 'nine tenths of what two replicas can hold',
    series: {
      [`baton_streams{${A}}`]: '4500+0x20',
      [`baton_streams{${B}}`]: '4500+0x20',
      [`baton_streams_limit{${A}}`]: '5000+0x20',
      [`baton_streams_limit{${B}}`]: '5000+0x20',
    },
    at: 12,
    fires: [warning('baton holds 90% of the streams that it has room for')],
  },
  {
    alert: 'StreamCapacityHigh',
    story: 'the 70 % at which autoscaling aims',
    series: { [`baton_streams{${A}}`]: '3500+0x20', [`baton_streams_limit{${A}}`]: '5000+0x20' },
    at: 12,
    fires: [],
  },
  {
    alert: 'StreamImbalance',
    story: 'one of two replicas holds nearly all',
    series: { [`baton_streams{${A}}`]: '900+0x60', [`baton_streams{${B}}`]: '100+0x60' },
    at: 40,
    fires: [warning('One replica of baton holds 900 streams, over 1.5 times the average')],
  },
  {
    alert: 'StreamImbalance',
    story: 'a replica was replaced, and streams come to it as they rotate',
    series: { [`baton_streams{${A}}`]: '900-25x15 525+0x45', [`baton_streams{${B}}`]: '100+25x15 475+0x45' },
    at: 40,
    fires: [],
  },
  {
    alert: 'EventLoopSaturated',
    story: 'one replica has no time left',
    series: { [`baton_event_loop_utilization_ratio{${A}}`]: '0.97+0x20' },
    at: 12,
    fires: [warning('a is busy 97% of the time', ON_A)],
  },
  {
    alert: 'EventLoopSaturated',
    story: 'two busy minutes in every five',
    series: { [`baton_event_loop_utilization_ratio{${A}}`]: '1 1 0.3 0.3 0.3 1 1 0.3 0.3 0.3 1 1 0.3 0.3 0.3' },
    at: 12,
    fires: [],
  },
  {
    alert: 'MemoryNearLimit',
    story: 'nearly all of what the container may take',
    series: {
      [`process_resident_memory_bytes{${A}}`]: '730000000+0x20',
      [`baton_memory_limit_bytes{${A}}`]: '768000000+0x20',
    },
    at: 8,
    fires: [warning('a uses 95.05% of its memory limit', ON_A)],
  },
  {
    alert: 'MemoryNearLimit',
    story: 'two thirds of it',
    series: {
      [`process_resident_memory_bytes{${A}}`]: '500000000+0x20',
      [`baton_memory_limit_bytes{${A}}`]: '768000000+0x20',
    },
    at: 8,
    fires: [],
  },
  {
    alert: 'ResumeResets',
    story: 'a failover lost what streams had seen',
    series: { [`baton_resets_total{${A},reason="store_lost"}`]: '0 0 300+0x10', [OPENED]: '0+40x12' },
    at: 5,
    fires: [warning('300 streams of baton could not resume where they were')],
  },
  {
    alert: 'ResumeResets',
    story: 'new devices, and a few that were away for long',
    series: {
      [`baton_resets_total{${A},reason="new"}`]: '0+40x20',
      [`baton_resets_total{${A},reason="gap"}`]: '0+2x20',
      [OPENED]: '0+400x20',
    },
    at: 18,
    fires: [],
  },
  {
    alert: 'RelayFailures',
    story: 'every fifth request for bytes fails',
    series: { [outcome('up', 'done')]: '0+8x30', [outcome('down', 'store_unavailable')]: '0+2x30' },
    at: 20,
    fires: [warning('The relay of baton fails to pass files on')],
  },
  {
    alert: 'RelayFailures',
    story: 'there is no memory for new files',
    series: { [`baton_problems_total{${A},code="relay_busy"}`]: '0+5x30' },
    at: 20,
    fires: [warning('The relay of baton fails to pass files on')],
  },
  {
    alert: 'RelayFailures',
    story: 'receivers leave, requests are replaced, and one in fifty fails',
    series: {
      [outcome('up', 'done')]: '0+49x30',
      [outcome('down', 'gone')]: '0+20x30',
      [outcome('up', 'upload_gone')]: '0+20x30',
      [outcome('down', 'failed')]: '0+1x30',
      [`baton_problems_total{${A},code="relay_busy"}`]: '0+1x30',
    },
    at: 25,
    fires: [],
  },
  {
    alert: 'PushFailures',
    story: 'APNs refuses our key, web push works',
    series: {
      [pushed('failed', 'apns')]: '0+9x40',
      [pushed('delivered', 'apns')]: '0+1x40',
      [pushed('delivered')]: '0+100x40',
    },
    at: 30,
    fires: [warning('90% of the apns pushes of baton are not accepted', { platform: 'apns' })],
  },
  {
    alert: 'PushFailures',
    story: 'subscriptions that are gone, and a push service that has now and then no time',
    series: { [pushed('delivered')]: '0+80x40', [pushed('gone')]: '0+80x40', [pushed('retry')]: '0+5x40' },
    at: 30,
    fires: [],
  },
  {
    alert: 'ForcedDrain',
    story: 'a replica still has transfers when its time to drain is nearly over',
    series: {
      [`baton_drain_duration_seconds{${A}}`]: '0+60x5',
      [`baton_drain_limit_seconds{${A}}`]: '310+0x5',
    },
    at: 5,
    fires: [warning('A replica of baton ends before its clients have moved to another', ON_A)],
  },
  {
    alert: 'ForcedDrain',
    story: 'a replica was killed',
    series: { [`baton_nodes_reaped_total{${B},cause="died"}`]: '0 0 1+0x8' },
    at: 4,
    fires: [warning('A replica of baton ends before its clients have moved to another')],
  },
  {
    alert: 'ForcedDrain',
    story: 'a replica drains for a minute and is gone; another never has',
    series: {
      [`baton_drain_duration_seconds{${A}}`]: '0 0 30 60 _x6',
      [`baton_drain_limit_seconds{${A}}`]: '310 310 310 310 _x6',
      [`baton_drain_duration_seconds{${B}}`]: '0+0x10',
      [`baton_drain_limit_seconds{${B}}`]: '310+0x10',
      [`baton_nodes_reaped_total{${B},cause="died"}`]: '0+0x10',
    },
    at: 3,
    fires: [],
  },
  {
    alert: 'ClockSkew',
    story: 'a replica is an hour behind',
    series: { [`baton_clock_skew_seconds{${A}}`]: '-3600+0x20' },
    at: 10,
    fires: [warning('The clocks of a and of its store are 1h 0m 0s apart', ON_A)],
  },
  {
    alert: 'ClockSkew',
    story: 'a replica is a second ahead, and another one is set right',
    series: { [`baton_clock_skew_seconds{${A}}`]: '1+0x20', [`baton_clock_skew_seconds{${B}}`]: '30+0x3 0+0x17' },
    at: 10,
    fires: [],
  },
  {
    alert: 'SettingsDiffer',
    story: 'a replica was left with the settings of before',
    series: { [`baton_build_info{${A},settings="1"}`]: '1+0x50', [`baton_build_info{${B},settings="2"}`]: '1+0x50' },
    at: 40,
    fires: [warning('Replicas of baton run with 2 different sets of settings that must agree')],
  },
  {
    alert: 'SettingsDiffer',
    story: 'settings are rolled out within ten minutes',
    series: {
      [`baton_build_info{${A},settings="1"}`]: '1+0x10 _x40',
      [`baton_build_info{${A},settings="2"}`]: '_x10 1+0x40',
      [`baton_build_info{${B},settings="2"}`]: '1+0x50',
    },
    at: 40,
    fires: [],
  },
  {
    alert: 'AuthRejectionsRising',
    story: 'a replica refuses everybody who shows a token from one moment on',
    series: { [rejected(A)]: '0+1x80 80+100x20', [rejected(B)]: '0+1x100' },
    at: 95,
    fires: [warning('a refused 1k requests within 10 min because of the caller’s identity', ON_A)],
  },
  {
    alert: 'AuthRejectionsRising',
    story: 'people without a session come all day long, and a new replica refuses some',
    series: { [rejected(A)]: '0+100x100', [rejected(B)]: '0+5x20' },
    at: 90,
    fires: [],
  },
  {
    alert: 'IdentityHeaderSpoof',
    story: 'requests with identity headers come past the edge',
    series: { [`baton_auth_rejections_total{${A},reason="untrusted_edge"}`]: '0 0 40+0x8' },
    at: 4,
    fires: [critical('40 requests brought identity headers to baton that the edge did not set')],
  },
  {
    alert: 'IdentityHeaderSpoof',
    story: 'people without a session, and a single odd request',
    series: {
      [`baton_auth_rejections_total{${A},reason="unauthenticated"}`]: '0+100x10',
      [`baton_auth_rejections_total{${A},reason="untrusted_edge"}`]: '0 0 1+0x8',
    },
    at: 6,
    fires: [],
  },
  {
    alert: 'BrokerFailing',
    story: 'the breaker of one operation is open',
    series: { [`baton_broker_breaker_open{${A},operation="mint"}`]: '0 0 1+0x8' },
    at: 4,
    fires: [critical('The auth broker does not serve `mint` for baton', { operation: 'mint' })],
  },
  {
    alert: 'BrokerFailing',
    story: 'every fifth call gets an answer that is none',
    series: { [asked('ok')]: '0+40x20', [asked('broker_contract')]: '0+10x20' },
    at: 10,
    fires: [critical('The auth broker does not serve `mint` for baton', { operation: 'mint' })],
  },
  {
    alert: 'BrokerFailing',
    story: 'the broker refuses many sessions, as it should, and a call fails now and then',
    series: {
      [`baton_broker_breaker_open{${A},operation="mint"}`]: '0+0x20',
      [asked('ok')]: '0+40x20',
      [asked('session_expired')]: '0+40x20',
      [asked('broker_unavailable')]: '0+1x20',
    },
    at: 10,
    fires: [],
  },
  {
    alert: 'BrokerFailing',
    story: 'a replica could not use the broker from its start on',
    series: { [`baton_broker_up{${A}}`]: '0+0x10', [`baton_broker_up{${B}}`]: '1+0x10' },
    at: 4,
    fires: [critical('The auth broker does not serve anything for baton')],
  },
  {
    alert: 'BrokerFailing',
    story: 'every replica can use it',
    series: { [`baton_broker_up{${A}}`]: '0 1+0x10', [`baton_broker_up{${B}}`]: '1+0x10' },
    at: 6,
    fires: [],
  },
  {
    alert: 'AuthBrokerUnhealthy',
    story: 'one broker of two cannot use its store',
    series: {
      [`baton_auth_broker_redis_up{${A}}`]: '1 0+0x10',
      [`baton_auth_broker_redis_up{${B}}`]: '1+0x10',
    },
    at: 5,
    fires: [critical('The auth broker baton cannot use its store or answers with errors')],
  },
  {
    alert: 'AuthBrokerUnhealthy',
    story: 'a fifth of its answers are errors of its own',
    series: {
      [`baton_auth_broker_requests_total{${A},route="/v1/verify",status="200"}`]: '0+80x10',
      [`baton_auth_broker_requests_total{${A},route="/v1/verify",status="500"}`]: '0+20x10',
    },
    at: 8,
    fires: [critical('The auth broker baton cannot use its store or answers with errors')],
  },
  {
    alert: 'AuthBrokerUnhealthy',
    story: 'its store answers, refusals are no errors of its own, and some fail',
    series: {
      [`baton_auth_broker_redis_up{${A}}`]: '1+0x10',
      [`baton_auth_broker_requests_total{${A},route="/v1/verify",status="401"}`]: '0+80x10',
      [`baton_auth_broker_requests_total{${A},route="/v1/verify",status="503"}`]: '0+1x10',
    },
    at: 8,
    fires: [],
  },
  {
    alert: 'TargetAbsent',
    story: 'there is no replica at all',
    series: { [up('instance="prometheus"')]: '1+0x10' },
    at: 5,
    fires: [
      { severity: 'critical', labels: NO_LABELS, summary: 'Prometheus reads no metrics of any replica', job: '' },
    ],
  },
  {
    alert: 'TargetAbsent',
    story: 'one of two replicas does not answer any more',
    series: { [build(A)]: '1+0x10', [build(B)]: '1 1 _x8', [up(A)]: '1+0x10', [up(B)]: '1 1 0+0x8' },
    at: 6,
    fires: [critical('Prometheus reads no metrics of b', { instance: 'b' })],
  },
  {
    alert: 'TargetAbsent',
    story: 'a replica was replaced, and what is no replica is down',
    series: {
      [build(A)]: '1+0x10',
      [up(A)]: '1+0x10',
      [up('instance="x",job="other"')]: '0+0x10',
      [build(B)]: '1 1 _x8',
    },
    at: 6,
    fires: [],
  },
];
