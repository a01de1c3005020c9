import { median } from '../rounds/figures.mjs';
import { KINDS, orderOf, summaryOf } from '../rounds/rounds.mjs';
import { makeSide } from '../rounds/side.mjs';
import { writeRows } from '../load/wire.mjs';

/** The devices of one account. With a single device each stream would also carry an account of its own. */
const PER_ACCOUNT = 2;
/** The sockets that a process may hold (the limit of open files, here and on the server, is often 20,000). */
const STREAMS_PER_LOAD = 4_000;
/** Streams that have just opened are not swept for this long (a quarter of 60 s), and cost less than they do later. */
const FRESH_MS = 15_000;
/** The number of streams that all clients together open at once. */
const OPENING = 300;
const SETTLED_WITHIN = 0.005;
const SETTLE_PAUSE_MS = 400;
const SETTLE_LOOKS = 20;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const sum = (values) => values.reduce((all, value) => all + value, 0);

/** Collects garbage until resident memory stays the same. */
async function settled(side) {
  let last = await side.memory('settle');
  for (let i = 0; i < SETTLE_LOOKS; i += 1) {
    await pause(SETTLE_PAUSE_MS);
    const next = await side.memory('settle');
    if (Math.abs(next.rss - last.rss) < last.rss * SETTLED_WITHIN) return next;
    last = next;
  }
  return last;
}

/** Makes a side, with up to `most` streams of known devices over all of its servers. */
export async function makeFleet({ group, most, ...parts }) {
  const accounts = Math.ceil(most / PER_ACCOUNT);
  const { redis, keyPrefix } = parts;
  await writeRows({ redis: redis.client, keyPrefix, group, accounts, devices: PER_ACCOUNT });
  const loads = Math.ceil(most / STREAMS_PER_LOAD);
  const side = await makeSide({ ...parts, loads });
  const width = Math.ceil(OPENING / loads);
  let open = 0;
  const timed = async (act) => {
    const startedMs = performance.now();
    const refused = sum((await act()).map((one) => one.refused));
    return { refused, seconds: (performance.now() - startedMs) / 1_000 };
  };
  return {
    side,
    /** Resolves, once this many are live, to the seconds that it took. */
    async growTo(count) {
      const [from, share] = [open, (count - open) / loads];
      open = count;
      const partOf = (i) => ({ from: from + Math.round(i * share), to: from + Math.round((i + 1) * share) });
      const given = (i) => ({ group, perAccount: PER_ACCOUNT, urls: side.urls, width, ...partOf(i) });
      return timed(() => side.askAll('openStreams', given));
    },
    /** Cuts all streams in one moment; they come back. Returns what a connect cost, in microseconds. */
    async storm() {
      const spent = await side.watch();
      const { refused, seconds } = await timed(() => side.askAll('storm', () => ({ width })));
      const { servers_us, redis_us, others } = await spent();
      return { per_second: open / seconds, servers_us: servers_us / open, redis_us: redis_us / open, refused, others };
    },
    /** Kills one server. Returns the seconds until all of its streams are live on the first. */
    async lose() {
      await side.askAll('expectLoss', () => ({ from: side.urls.at(-1), to: side.urls[0] }));
      const startedMs = performance.now();
      await side.killLast();
      await side.askAll('untilLive', () => undefined);
      return (performance.now() - startedMs) / 1_000;
    },
    /** Waits while nothing happens. Returns the share of a processor that servers and Redis take all the same. */
    async quiet(seconds) {
      if (side.kind === 'baton') await pause(Math.min(FRESH_MS, seconds * 1_000));
      const spent = await side.watch();
      await pause(seconds * 1_000);
      const figures = await spent();
      const share = (micros) => micros / 1_000_000 / figures.seconds;
      return { servers: share(figures.servers_us), redis: share(figures.redis_us), others: figures.others };
    },
    settled: () => settled(side),
    stop: () => side.stop(),
  };
}

async function lifeOf({ parts, kind, options, group }) {
  const [few, many] = options.streams;
  const fleet = await makeFleet({ ...parts, kind, group, most: many });
  const redisMemory = parts.redis.memory;
  try {
    const first = await fleet.growTo(few);
    const [low, lowRedis] = [await fleet.settled(), await redisMemory()];
    const more = await fleet.growTo(many);
    const [high, highRedis] = [await fleet.settled(), await redisMemory()];
    const each = (bytes) => bytes / (many - few) / 1_024;
    const idle = {
      rss_kib: each(high.rss - low.rss),
      heap_kib: each(high.heapUsed - low.heapUsed),
      redis_kib: each(highRedis - lowRedis),
      base_rss_mib: (low.rss - (few * (high.rss - low.rss)) / (many - few)) / 1_048_576,
    };
    if (options.parts.includes('idle')) {
      const { servers, redis, others } = await fleet.quiet(options.quietSeconds);
      Object.assign(idle, { servers_share: servers, redis_share: redis, others });
    }
    if (!options.parts.includes('storm')) return { idle };
    const storms = [];
    for (let i = 0; i < options.storms; i += 1) storms.push(await fleet.storm());
    const middle = (name) => median(storms.map((one) => one[name]));
    const after = await fleet.settled();
    const storm = {
      ...Object.fromEntries(['per_second', 'servers_us', 'redis_us', 'others'].map((name) => [name, middle(name)])),
      refused: sum(storms.map(({ refused }) => refused)) + first.refused + more.refused,
      opened_per_second: (many - few) / more.seconds,
      lost_seconds: await fleet.lose(),
    };
    return { idle: { ...idle, after_storms_kib: each(after.rss - low.rss) }, storm };
  } finally {
    await fleet.stop();
    // The next fleet must find nothing of this one.
    await parts.redis.client.flushall();
  }
}

/**
 * Measures thousands of quiet streams of known devices on two servers: what each costs in memory and in processor time,
 * how fast they come back when all are cut at once, repeatedly, and when one of the servers is killed.
 */
export async function measureFleet({ options, say, ...parts }) {
  const lives = Object.fromEntries(KINDS.map((kind) => [kind, []]));
  for (let round = 0; round < options.fleetRounds; round += 1) {
    for (const kind of orderOf(round)) {
      say(`round ${round + 1} of ${options.fleetRounds}: ${options.streams.at(-1)} streams, ${kind}`);
      lives[kind].push(await lifeOf({ parts, kind, options, group: `fleet-${kind}-${round}` }));
    }
  }
  const of = (part) => Object.fromEntries(KINDS.map((kind) => [kind, lives[kind].map((life) => life[part])]));
  const count = options.streams.at(-1);
  return ['idle', 'storm']
    .filter((part) => options.parts.includes(part))
    .map((part) => ({ name: part, title: `${part}, ${count} streams`, ...summaryOf(of(part)) }));
}
