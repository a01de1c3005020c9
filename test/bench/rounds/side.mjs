import { watchOthers } from '../machine/machine.mjs';
import { startLoad } from '../machine/processes.mjs';

/** The share of the machine that other processes may take during a run. */
const UNDISTURBED = 0.05;

const sum = (values) => values.reduce((all, value) => all + value, 0);

/** Starts this many servers of a kind, and processes that hold the clients. */
export async function makeSide({ servers, kind, replicas = 2, redis, pinning, loads = 1 }) {
  const running = [];
  for (let i = 0; i < replicas; i += 1) running.push(await servers[kind]());
  const clients = await Promise.all(Array.from({ length: loads }, () => startLoad({ pinning })));
  const serverMicros = async () => sum(await Promise.all(running.map(async (one) => (await one.look()).cpuMicros)));
  const loadMicros = async () => sum(await Promise.all(clients.map((one) => one.ask('usage'))));

  return {
    kind,
    urls: running.map(({ url }) => url),
    load: clients[0],
    /** Gives the same task to each process of clients; `given(i)` is what differs. */
    askAll: (task, given) => Promise.all(clients.map((client, i) => client.ask(task, given(i)))),
    /** Returns the memory of all servers together; `settle` collects garbage first. */
    async memory(probe) {
      const looks = await Promise.all(running.map((one) => one.look(probe)));
      return { rss: sum(looks.map(({ rss }) => rss)), heapUsed: sum(looks.map(({ heapUsed }) => heapUsed)) };
    },
    /**
     * Begins to watch. The returned function tells how much processor time each process had since then, and others on
     * the machine.
     */
    async watch() {
      const others = watchOthers();
      const before = [await serverMicros(), await redis.cpuMicros(), await loadMicros()];
      const startedMs = performance.now();
      return async () => {
        const after = [await serverMicros(), await redis.cpuMicros(), await loadMicros()];
        const [servers_us, redis_us, load_us] = after.map((micros, i) => micros - before[i]);
        const seconds = (performance.now() - startedMs) / 1_000;
        return { servers_us, redis_us, load_us, seconds, others: others(servers_us + redis_us + load_us) };
      };
    },
    /** Kills the last of the servers at once. */
    killLast: () => running.pop().kill(),
    async stop() {
      await Promise.all(clients.map((client) => client.stop()));
      await Promise.all(running.map((server) => server.stop()));
    },
  };
}

/** Repeats a run that other processes disturbed. The least disturbed run counts. */
export async function leastDisturbed(tries, run) {
  const runs = [];
  do runs.push(await run());
  while (runs.length < tries && runs.at(-1).others > UNDISTURBED);
  return runs.reduce((best, next) => (next.others < best.others ? next : best));
}
