import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ReplicaProcess, startReplica } from '../support/replicas.ts';

const CLIENTS = fileURLToPath(new URL('./clients.mjs', import.meta.url));
const CHECK_EVERY_MS = 100;
const PROBES = 200;

/** The messages that are sent to streams that are away, so that they have missed something when they come back. */
const MISSED = 200;

interface StormParts {
  streams: number;
  /** The number of processes. Each may hold this many files open: 20,000 here. */
  processes: number;
  redisUrl: string;
  keyPrefix: string;
  /** Flags for the Node of the replicas, like those of a profile. */
  nodeFlags?: string[];
}

/** What became of the streams of a killed replica, and what that cost the replica that took them. */
export interface StormFigures {
  streams: number;
  lost: number;
  /** The time from the kill until every stream is open again, on the survivor. */
  allReadyMs: number;
  /** The time from the kill until the last message that was sent meanwhile has arrived. */
  allArrivedMs: number;
  /** The median of the clients' own times, each from its loss, its backoff included. */
  medianBackMs: number;
  /** Messages that were sent while their receivers were away, and that arrived. */
  missed: number;
  /** Streams that were told that they missed something. */
  resets: number;
  liveness: { looks: number; worstMs: number; medianMs: number };
  rssMib: { before: number; highest: number; after: number };
  probes: { sent: number; arrived: number; slowestMs: number };
}

interface Clients {
  ask<T>(task: string, given?: object): Promise<T>;
  process: ChildProcess;
}

async function startClients(): Promise<Clients> {
  const child = fork(CLIENTS, { execArgv: [] });
  const answer = async <T>(): Promise<T> => {
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The clients ended with ${code}`)));
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [{ result: T; failed?: string }];
    if (message.failed !== undefined) throw new Error(message.failed);
    return message.result;
  };
  await answer();
  return {
    process: child,
    ask(task, given = {}) {
      const result = answer();
      child.send({ task, given });
      return result as never;
    },
  };
}

const rssMib = ({ process: { pid } }: ReplicaProcess): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

/** Returns for how many ms the main thread of a process had to wait for a processor so far; 0 if the kernel does not say. */
function waitedMs(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

const middle = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Looks at a replica repeatedly until it is told to stop: how soon it answers, and how much memory it holds. It subtracts the
 * time that the replica or this process waited for a processor (the longer of the two), because the machine is to blame for
 * that.
 */
function watch(replica: ReplicaProcess) {
  const waited = () => [replica.process.pid, process.pid].map(waitedMs);
  const took: number[] = [];
  let highest = 0;
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const [startedAt, waitedBefore] = [performance.now(), waited()];
      const { ok } = await fetch(`${replica.adminUrl}/livez`);
      if (!ok) throw new Error('not alive');
      const machinesMs = Math.max(...waited().map((ms, i) => ms - (waitedBefore[i] as number)));
      took.push(Math.max(0, performance.now() - startedAt - machinesMs));
      highest = Math.max(highest, rssMib(replica));
      await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
    }
  })();
  return async () => {
    isOver = true;
    await looking;
    return { liveness: { looks: took.length, worstMs: Math.max(...took), medianMs: middle(took) }, highest };
  };
}

interface Back {
  missed: number;
  allReadyAt: number;
  allArrivedAt: number;
  backAfterMs: number[];
  resets: number;
}

/** Opens the streams over two replicas, kills one, and waits until all are on the other. Leaves the survivor running. */
export async function runStorm(parts: StormParts): Promise<StormFigures> {
  const { streams, processes, redisUrl, keyPrefix, nodeFlags = [] } = parts;
  const env = { APP_HUB_MAX_STREAMS: String(streams + 100) };
  const start = () => startReplica({ redisUrl, keyPrefix, env, nodeFlags });
  const [survivor, victim] = await Promise.all([start(), start()]);
  const groups: Clients[] = await Promise.all(Array.from({ length: processes }, startClients));
  const all = <T>(task: string, given: (i: number) => object = () => ({})) =>
    Promise.all(groups.map((group, i) => group.ask<T>(task, given(i))));
  let stopWatching: ReturnType<typeof watch> | null = null;
  try {
    const count = Math.ceil(streams / processes / 2) * 2;
    await all('open', (i) => ({ count, urls: [survivor.url, victim.url], prefix: `storm-${i}` }));
    await all('expectLoss', () => ({ survivor: survivor.url }));
    const before = rssMib(survivor);
    stopWatching = watch(survivor);
    const killedAt = Date.now();
    await victim.kill();
    const messages = Math.ceil(MISSED / processes);
    const backs = await all<Back>('untilAllReady', () => ({ losses: count / 2, messages, url: survivor.url }));
    const { liveness, highest } = await stopWatching();
    const probed = await all<{ arrived: number; slowestMs: number }>('probe', () => ({
      count: Math.ceil(PROBES / processes),
      url: survivor.url,
    }));
    const backAfterMs = backs.flatMap((back) => back.backAfterMs);
    return {
      streams: count * processes,
      lost: backAfterMs.length,
      allReadyMs: Math.max(...backs.map(({ allReadyAt }) => allReadyAt)) - killedAt,
      allArrivedMs: Math.max(...backs.map(({ allArrivedAt }) => allArrivedAt)) - killedAt,
      medianBackMs: middle(backAfterMs),
      missed: backs.reduce((sum, { missed }) => sum + missed, 0),
      resets: backs.reduce((sum, { resets }) => sum + resets, 0),
      liveness,
      rssMib: { before, highest, after: rssMib(survivor) },
      probes: {
        sent: Math.ceil(PROBES / processes) * processes,
        arrived: probed.reduce((sum, { arrived }) => sum + arrived, 0),
        slowestMs: Math.max(...probed.map(({ slowestMs }) => slowestMs)),
      },
    };
  } finally {
    // The error is already known. This only makes sure that nothing is left behind.
    await stopWatching?.().catch(() => undefined);
    await Promise.all(
      groups.map(async ({ process: child }) => {
        if (child.exitCode !== null) return;
        const closed = once(child, 'close');
        child.kill('SIGKILL');
        await closed;
      }),
    );
  }
}

/**
 * Returns what is wrong with a storm; empty if all is well. Measured on 2 cores shared with other work: with 500 lost streams
 * all were back with what they missed after 2.5 to 6.1 s, memory rose by 19 to 38 MiB, and `/livez` was never later than 0.24
 * s. With 5,000 it took 5.9 s, 134 MiB, and 0.17 s.
 * @param withinMs the time in which all must be back and have what they missed. It must be longer if other tests run at the
 * same time: with a load of 18 on 2 cores 500 streams took 14 s
 */
export function shortcomingsOf(figures: StormFigures, withinMs = 10_000): string[] {
  const { lost, allReadyMs, allArrivedMs, resets, liveness, rssMib: rss, probes } = figures;
  // The limit is twice what was measured, with few streams and with many.
  const mayGrowMib = 55 + (lost * 46) / 1_024;
  return [
    ...(allReadyMs < withinMs ? [] : [`all were back after ${allReadyMs} ms, later than ${withinMs}`]),
    ...(allArrivedMs < withinMs ? [] : [`all had what they missed after ${allArrivedMs} ms, later than ${withinMs}`]),
    ...(resets === 0 ? [] : [`${resets} streams lost their place`]),
    ...(liveness.worstMs < 1_000 ? [] : [`/livez took ${Math.round(liveness.worstMs)} ms`]),
    ...(rss.highest < rss.before + mayGrowMib ? [] : [`memory rose from ${rss.before} to ${rss.highest} MiB`]),
    ...(probes.arrived === probes.sent ? [] : [`${probes.sent - probes.arrived} probes did not arrive`]),
  ];
}
