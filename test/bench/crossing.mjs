import { median, medianOfEach, spread } from './figures.mjs';
import { watchOthers } from './machine.mjs';
import { startLoad } from './processes.mjs';

/** Kinds in the order of a round: each is first as often as the other. */
const orderOf = (round, kinds) => (round % 2 === 0 ? kinds : kinds.toReversed());

/** Share of the machine that other processes may take during a run. */
const UNDISTURBED = 0.05;

/** Two servers of a kind, and pairs of devices across them. */
async function makeSide({ servers, kind, redis, pinning, pairs, bytes }) {
  const [first, second] = [await servers[kind](), await servers[kind]()];
  const load = await startLoad(pinning);
  const all = [first, second];
  const serverMicros = async () => {
    const looks = await Promise.all(all.map((server) => server.look()));
    return looks.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
  };
  /** Runs one task of the load on fresh pairs and adds what a message cost each process. */
  const runOnce = async ({ task, given, ackEvery }) => {
    await load.ask('open', { count: pairs, sendOn: first.url, listenOn: second.url, bytes, ackEvery });
    const others = watchOthers();
    const before = { servers: await serverMicros(), redis: await redis.cpuMicros() };
    const { latencies, lateness, seconds, cpuMicros } = await load.ask(task, given);
    const spent = { servers: (await serverMicros()) - before.servers, redis: (await redis.cpuMicros()) - before.redis };
    const figures = {
      ...spread(latencies),
      per_second: latencies.length / seconds,
      servers_us: spent.servers / latencies.length,
      redis_us: spent.redis / latencies.length,
      load_us: cpuMicros / latencies.length,
      ...(lateness && { late_p99: spread(lateness).p99 }),
      others: others(spent.servers + spent.redis + cpuMicros),
    };
    await load.ask('close');
    return figures;
  };

  return {
    /** A run that other processes disturbed is tried again; of several the least disturbed counts. */
    async run(step, tries) {
      const runs = [];
      do runs.push(await runOnce(step));
      while (runs.length < tries && runs.at(-1).others > UNDISTURBED);
      return runs.reduce((best, next) => (next.others < best.others ? next : best));
    },
    async stop() {
      await load.stop();
      await Promise.all(all.map((server) => server.stop()));
    },
  };
}

/** What is run, in this order, in every round. `acks`: also with every message acknowledged on its own. */
function plan({ messages, rate, seconds, inFlight, ackEvery }) {
  const saturated = inFlight.map((n) => ({
    name: `saturated_${n}`,
    title: `throughput, ${n} in flight`,
    task: 'saturated',
    given: { inFlight: n, seconds },
    ackEvery,
  }));
  return [
    { name: 'one_by_one', title: 'latency, 1 in flight', task: 'oneByOne', given: { messages }, ackEvery },
    {
      name: 'paced',
      title: `latency, ${rate}/s`,
      task: 'paced',
      given: { perSecond: rate, seconds },
      ackEvery,
    },
    ...saturated,
    { ...saturated.at(-1), name: 'saturated_each_acked', title: `${saturated.at(-1).title}, each acked`, ackEvery: 1 },
  ];
}

/** The product's figure over the floor's, round by round: the two halves of a round saw the same machine. */
const ratios = (baton, floor) =>
  Object.fromEntries(
    Object.keys(floor[0]).map((name) => [name, median(baton.map((round, i) => round[name] / floor[i][name]))]),
  );

/**
 * Messages from a device on one server to a device on the other. `[{name, title, floor, baton, ratio, rounds}]`, times
 * in milliseconds of the client, `*_us` in microseconds of processor time a message.
 */
export async function measureCrossing({ servers, redis, pinning, options, say }) {
  const sides = {};
  const rounds = new Map();
  const steps = plan(options);
  try {
    for (const kind of ['floor', 'baton']) sides[kind] = await makeSide({ servers, kind, redis, pinning, ...options });
    for (const kind of ['floor', 'baton']) {
      say(`warming up ${kind}`);
      await sides[kind].run({ task: 'saturated', given: options.warmUp, ackEvery: options.ackEvery }, 1);
    }
    for (let round = 0; round < options.rounds; round += 1) {
      for (const step of steps) {
        say(`round ${round + 1} of ${options.rounds}: ${step.title}`);
        for (const kind of orderOf(round, ['floor', 'baton'])) {
          const found = rounds.get(step) ?? { floor: [], baton: [] };
          found[kind].push(await sides[kind].run(step, options.tries));
          rounds.set(step, found);
        }
      }
    }
  } finally {
    await Promise.all(Object.values(sides).map((side) => side.stop()));
  }
  return steps.map((step) => {
    const { floor, baton } = rounds.get(step);
    return {
      name: step.name,
      title: step.title,
      floor: medianOfEach(floor),
      baton: medianOfEach(baton),
      ratio: ratios(baton, floor),
      rounds: { floor, baton },
    };
  });
}
