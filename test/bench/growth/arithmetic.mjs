import { markdownTable } from './table.mjs';

/*
 * This arithmetic goes from what was measured to a million and ten million devices. Every device has its stream open, with two
 * devices an account. In its busy hour it sends one message in five minutes, and the service renews streams as usual. The plan
 * uses at most half of a processor, which leaves room for a lost replica, a lost primary or a lost hour.
 */

const SIZES = [100_000, 1_000_000, 10_000_000];
const MESSAGES_A_SECOND = 1 / 300;
/** A stream ends after 80 to 100 % of APP_HUB_ROTATE_SECONDS. */
const STREAM_SECONDS = 0.9 * 900;
const PLANNED = 0.5;
/**
 * Half of the streams that a replica takes with a limit of 20,000 open files (`streamsWithin` of `services/sync/config`).
 * The other half is for the streams of a neighbour that died.
 */
const STREAMS_PER_REPLICA = (20_000 * 0.9 - 64) / 2;
/** How many streams of a primary all replicas together attach again in a second after its failover. */
const ATTACHES_A_SECOND = 20_000;
const LEASE_SECONDS = 2;
/** The time of Redis for each lease that one renewal reads: 870 us for 1,053 of them. */
const LEASE_MICROS = 0.83;
const MICROS = 1e6;
const GIB = 1_024 * 1_024;

const whole = (value) => Math.ceil(value).toLocaleString('en');
const cores = (value) => value.toFixed(1);

/**
 * Draws a line through two points: what each stream adds, and what is there without any. Least squares would be more than two
 * points deserve.
 */
function lineThrough(low, high, valueOf) {
  if (low === high) return { each: valueOf(high) / high.streams, base: 0 };
  const each = Math.max(0, (valueOf(high) - valueOf(low)) / (high.streams - low.streams));
  return { each, base: Math.max(0, valueOf(low) - each * low.streams) / low.replicas };
}

/**
 * Returns what a stream, a connect and a message cost, from the rows of two replicas. Connects and messages are from the row
 * with the most streams; quiet streams are from the difference between that row and the one with the fewest.
 */
function unitsOf(growth) {
  const twos = growth.filter(({ replicas }) => replicas === 2);
  const rows = (twos.length > 0 ? twos : growth).toSorted((a, b) => b.streams - a.streams);
  const high = rows[0];
  const low = rows.findLast(({ layout }) => layout === high.layout);
  const quiet = (of) => lineThrough(low, high, (row) => row.quiet[of]);
  return {
    quiet: { servers: quiet('servers'), redis: quiet('redis') },
    connect: { servers: high.storm.servers_us / MICROS, redis: high.storm.redis_us / MICROS },
    message: { servers: high.messages.servers_us / MICROS, redis: high.messages.redis_us / MICROS },
    kib: { servers: high.rss_kib, redis: high.redis_kib },
  };
}

function planFor(devices, { quiet, connect, message, kib }) {
  const connects = devices / STREAM_SECONDS;
  const messages = devices * MESSAGES_A_SECOND;
  const work = (of) => devices * quiet[of].each + connects * connect[of] + messages * message[of];
  const byCpu = Math.ceil(work('servers') / (PLANNED - quiet.servers.base));
  const byStreams = Math.ceil(devices / STREAMS_PER_REPLICA);
  const replicas = Math.max(byCpu, byStreams);
  const busy = (of) => work(of) + replicas * quiet[of].base;
  const leases = ((replicas ** 2 / LEASE_SECONDS) * LEASE_MICROS) / MICROS;
  const primaries = Math.ceil(busy('redis') / PLANNED);
  return {
    ...{ devices, connects, messages, byCpu, byStreams, replicas, primaries },
    servers: busy('servers'),
    redis: busy('redis'),
    serversGib: (devices * kib.servers) / GIB,
    redisGib: (devices * kib.redis) / GIB,
    leases,
    attachSeconds: devices / primaries / ATTACHES_A_SECOND,
  };
}

const ROWS = [
  ['messages a second', ({ messages }) => whole(messages)],
  ['connects a second, from renewal alone', ({ connects }) => whole(connects)],
  ['processors of replicas, busy', ({ servers }) => cores(servers)],
  ['processors of Redis, busy', ({ redis }) => cores(redis)],
  ['replicas by processor', ({ byCpu }) => whole(byCpu)],
  ['replicas by open files', ({ byStreams }) => whole(byStreams)],
  ['**replicas**', ({ replicas }) => `**${whole(replicas)}**`],
  ['**primaries of Redis**', ({ primaries }) => `**${whole(primaries)}**`],
  ['memory of streams, all replicas, GiB', ({ serversGib }) => whole(serversGib)],
  ['memory of quiet accounts, all primaries, GiB', ({ redisGib }) => whole(redisGib)],
  ['of one primary: leases of all replicas, processors', ({ leases }) => leases.toFixed(2)],
  ['until the streams of a primary that failed over are attached, s', ({ attachSeconds }) => whole(attachSeconds)],
];

/** Returns the arithmetic as a table in Markdown, with a column for each size. */
export function arithmeticTable(growth) {
  const units = unitsOf(growth);
  const plans = SIZES.map((size) => planFor(size, units));
  const heads = ['devices, all connected', ...SIZES.map((size) => size.toLocaleString('en'))];
  return markdownTable(
    heads,
    ROWS.map(([title, show]) => [title, ...plans.map(show)]),
  );
}
