import { spread } from '../rounds/figures.mjs';
import { inRounds, withSides } from '../rounds/rounds.mjs';
import { leastDisturbed, makeSide } from '../rounds/side.mjs';
import { writeRows } from '../load/wire.mjs';

/** Makes a side with accounts of one sender and this many listeners each. */
export async function makeCircles({ kind, group, listeners, senderListens, accounts, bytes, ...parts }) {
  const name = `${group}-${kind}`;
  await writeRows({
    redis: parts.redis.client,
    keyPrefix: parts.keyPrefix,
    group: name,
    accounts,
    devices: listeners + 1,
  });
  const side = await makeSide({ kind, ...parts });
  const given = { group: name, urls: side.urls, accounts, bytes, listeners, senderListens };
  await side.load.ask('openCircles', given).catch(async (error) => {
    await side.stop();
    throw error;
  });
  return side;
}

/** Runs one task of the load. Returns what a message cost each process. */
export async function runMessages(side, task, given) {
  const spent = await side.watch();
  const { latencies, lateness, seconds } = await side.load.ask(task, given);
  const { servers_us, redis_us, load_us, others } = await spent();
  return {
    ...spread(latencies),
    per_second: latencies.length / seconds,
    servers_us: servers_us / latencies.length,
    redis_us: redis_us / latencies.length,
    load_us: load_us / latencies.length,
    ...(lateness && { late_p99: spread(lateness).p99 }),
    others,
  };
}

/** Returns the steps of every round, in this order. */
function plan({ messages, seconds, inFlight, ackEvery, tries }) {
  const step = (name, title, task, given) => ({
    name,
    title,
    run: (side) => leastDisturbed(tries, () => runMessages(side, task, { ackEvery, ...given })),
  });
  const saturated = inFlight.map((n) =>
    step(`saturated_${n}`, `rate, ${n} in flight`, 'saturated', { inFlight: n, seconds }),
  );
  const most = inFlight.at(-1);
  const last = saturated.at(-1);
  /** Half of Baton's rate in this round. That rate is known by then, whichever kind comes first in the round. */
  const half = {
    name: 'half',
    title: 'latency at half of the rate that Baton keeps',
    run: (side, found) => {
      const perSecond = found.get(last).baton.at(-1).per_second / 2;
      const run = () => runMessages(side, 'paced', { ackEvery, perSecond, seconds });
      return leastDisturbed(tries, async () => ({ ...(await run()), due_per_second: perSecond }));
    },
  };
  return [
    ...saturated,
    step('each_acked', `rate, ${most} in flight, each acknowledged by a request`, 'saturated', {
      ...{ inFlight: most, seconds },
      ackEvery: 1,
    }),
    half,
    step('one_by_one', 'latency, 1 in flight', 'oneByOne', { messages }),
  ];
}

/**
 * Measures messages from a device on one server to a device on the other. Times are in milliseconds of the client,
 * `*_us` in microseconds of processor time a message.
 */
export async function measureMessages({ options, say, ...parts }) {
  const { rounds, ackEvery, warmUp, pairs: accounts, bytes } = options;
  const circles = { ...parts, group: 'messages', listeners: 1, senderListens: true, accounts, bytes };
  return withSides(
    (kind) => makeCircles({ ...circles, kind }),
    async (sides) => {
      for (const side of Object.values(sides)) {
        say(`warming up ${side.kind}`);
        await side.load.ask('saturated', { ...warmUp, ackEvery });
      }
      return inRounds({ rounds, steps: plan(options), sides, say });
    },
  );
}
