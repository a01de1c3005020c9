import { medianOfEach } from './figures.mjs';
import { startLoad } from './processes.mjs';

/** Devices of one account: with a single one each, a stream would also carry an account of its own. */
const PER_ACCOUNT = 2;
/** A process may hold so many sockets (the limit of open files, here and on the server, is often 20,000). */
const STREAMS_PER_LOAD = 4_000;
const SETTLED_WITHIN = 0.005;
const SETTLE_PAUSE_MS = 400;
const SETTLE_LOOKS = 20;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Collects garbage until resident memory stands still. */
async function settle(server) {
  let last = await server.look('settle');
  for (let i = 0; i < SETTLE_LOOKS; i += 1) {
    await pause(SETTLE_PAUSE_MS);
    const next = await server.look('settle');
    if (Math.abs(next.rss - last.rss) < last.rss * SETTLED_WITHIN) return next;
    last = next;
  }
  return last;
}

/** Opens so many more streams, in as many processes as that takes. Resolves to the seconds until all were ready. */
async function openMore({ loads, count, url, pinning, account }) {
  const processes = Math.ceil(count / STREAMS_PER_LOAD);
  const started = await Promise.all(Array.from({ length: processes }, () => startLoad(pinning)));
  loads.push(...started);
  const startedMs = performance.now();
  await Promise.all(
    started.map((load, i) =>
      load.ask('openIdle', {
        url,
        streams: Math.ceil(count / processes),
        perAccount: PER_ACCOUNT,
        account: `${account}-${i}`,
      }),
    ),
  );
  return (performance.now() - startedMs) / 1_000;
}

async function measureOnce({ servers, kind, redis, pinning, streams: [few, many], account }) {
  const server = await servers[kind]();
  const loads = [];
  try {
    const more = (count, name) => openMore({ loads, count, url: server.url, pinning, account: `${account}-${name}` });
    const firstSeconds = await more(few, 'few');
    const [low, lowRedis] = [await settle(server), await redis.memory()];
    const cpuBefore = (await server.look()).cpuMicros;
    const moreSeconds = await more(many - few, 'many');
    const cpuMicros = (await server.look()).cpuMicros - cpuBefore;
    const [high, highRedis] = [await settle(server), await redis.memory()];
    const each = (name) => (high[name] - low[name]) / (many - few) / 1_024;
    return {
      rss_kib: each('rss'),
      heap_kib: each('heapUsed'),
      redis_kib: (highRedis - lowRedis) / (many - few) / 1_024,
      base_rss_mib: (low.rss - each('rss') * 1_024 * few) / 1_048_576,
      first_per_second: few / firstSeconds,
      more_per_second: (many - few) / moreSeconds,
      all_seconds: firstSeconds + moreSeconds,
      open_us: cpuMicros / (many - few),
    };
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
    await server.stop();
  }
}

/**
 * Streams to which nothing is sent, all on one fresh server: what each costs in memory, from the difference between
 * few and many, and how fast they open. `{streams, floor, baton, ratio, rounds}`.
 */
export async function measureIdle({ servers, redis, pinning, options, say }) {
  const rounds = { floor: [], baton: [] };
  for (let round = 0; round < options.idleRounds; round += 1) {
    const kinds = ['floor', 'baton'];
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      say(`round ${round + 1} of ${options.idleRounds}: ${options.streams.at(-1)} idle streams, ${kind}`);
      const account = `idle-${kind}-${round}`;
      rounds[kind].push(await measureOnce({ servers, kind, redis, pinning, streams: options.streams, account }));
    }
  }
  const floor = medianOfEach(rounds.floor);
  const baton = medianOfEach(rounds.baton);
  const ratio = Object.fromEntries(Object.keys(floor).map((name) => [name, baton[name] / floor[name]]));
  return { streams: options.streams, perAccount: PER_ACCOUNT, floor, baton, ratio, rounds };
}
