import { makePinning } from '../machine/pinning.mjs';
import { makeServers, startLoad } from '../machine/processes.mjs';
import { writeRows } from '../load/wire.mjs';
import { makeFleet } from './fleet.mjs';
import { spread } from '../rounds/figures.mjs';

/**
 * The streams that one process can hold here: the limit of open files is 20,000, and half of the streams of another
 * replica may come to it.
 */
const MOST_PER_REPLICA = 10_000;

/** Measures messages between pairs on these servers while the fleet is quiet. */
async function measureMessages({ side, group, parts, options }) {
  const { pairs: accounts, bytes, growthSeconds: seconds, ackEvery, warmUp } = options;
  await writeRows({ redis: parts.redis.client, keyPrefix: parts.keyPrefix, group, accounts, devices: 2 });
  const load = await startLoad({ pinning: parts.pinning });
  try {
    const circles = { group, urls: side.urls, accounts, bytes, listeners: 1, senderListens: true };
    await load.ask('openCircles', circles);
    await load.ask('saturated', { ...warmUp, ackEvery });
    const spent = await side.watch();
    const found = await load.ask('saturated', { inFlight: options.inFlight.at(-1), seconds, ackEvery });
    const { servers_us, redis_us, others } = await spent();
    const count = found.latencies.length;
    const costs = { servers_us: servers_us / count, redis_us: redis_us / count };
    return { per_second: count / found.seconds, ...costs, ...spread(found.latencies), others };
  } finally {
    await load.stop();
  }
}

async function measureOne({ replicas, streams, parts, options }) {
  const group = `growth-${replicas}-${streams}`;
  const before = await parts.redis.memory();
  const fleet = await makeFleet({ ...parts, kind: 'baton', replicas, group, most: streams });
  try {
    const empty = await fleet.settled();
    await fleet.growTo(streams);
    const { rss } = await fleet.settled();
    const redisKib = ((await parts.redis.memory()) - before) / streams / 1_024;
    const quiet = await fleet.quiet(options.quietSeconds);
    const storm = await fleet.storm();
    const messages = await measureMessages({ side: fleet.side, group: `${group}-messages`, parts, options });
    return { rss_kib: (rss - empty.rss) / streams / 1_024, redis_kib: redisKib, quiet, storm, messages };
  } finally {
    await fleet.stop();
    await parts.redis.client.flushall();
  }
}

/**
 * Measures Baton alone, by the number of replicas and of quiet streams, with Redis on the replicas' processor and on
 * another. Returns `[{layout, replicas, streams, rss_kib, redis_kib, quiet, storm, messages}]`. Sizes beyond the limit
 * of open files are left out.
 */
export async function measureGrowth({ options, say, growthSoFar, redis, redisUrl, keyPrefix, nodeFlags }) {
  const found = [];
  for (const layout of options.layouts) {
    const pinning = makePinning(layout);
    pinning.pin('redis', redis.pid);
    const servers = makeServers({ redisUrl, keyPrefix, pinning, nodeFlags });
    for (const replicas of options.replicas) {
      for (const streams of options.growth.filter((count) => count <= replicas * MOST_PER_REPLICA)) {
        say(`${streams} streams on ${replicas} replicas, ${pinning.text}`);
        const parts = { servers, redis, pinning, keyPrefix };
        found.push({ layout, replicas, streams, ...(await measureOne({ replicas, streams, parts, options })) });
        growthSoFar(found);
      }
    }
  }
  return found;
}
