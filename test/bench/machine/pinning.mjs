import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Returns the processors that this process may use. */
function allowed() {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}

const LAYOUTS = {
  /** One processor serves the whole way of an event: servers and Redis. The load has all others. */
  one: (cpus) => ({ servers: cpus.slice(-1), redis: cpus.slice(-1), load: cpus.slice(0, -1) }),
  /** The servers have one half, Redis and the load the other. Redis gets what the servers leave alone. */
  apart: (cpus) => {
    const [load, servers] = [cpus.slice(0, cpus.length >> 1), cpus.slice(cpus.length >> 1)];
    return { servers, redis: load, load };
  },
};

export const LAYOUT_NAMES = [...Object.keys(LAYOUTS), 'none'];

function setsOf(layout) {
  try {
    if (layout === 'none' || spawnSync('taskset', ['--version']).status !== 0) return null;
    const cpus = allowed();
    if (cpus.length < 2) return null;
    return Object.fromEntries(Object.entries(LAYOUTS[layout](cpus)).map(([kind, set]) => [kind, set.join(',')]));
  } catch {
    // Only Linux has /proc. Elsewhere the scheduler decides, and the output says so.
    return null;
  }
}

/**
 * Decides which processors `servers`, `redis` and `load` have, so that all kinds of server have the same, and the load cannot
 * take time from what is measured. `command` and `pin` do nothing without taskset, without /proc, with one processor, and with
 * `none`.
 */
export function makePinning(layout) {
  const sets = setsOf(layout);
  return {
    text: sets === null ? 'none' : `servers on cpu ${sets.servers}; Redis on ${sets.redis}; the load on ${sets.load}`,
    /** Returns the words that start a node process on its processors. */
    command: (kind, args) =>
      sets === null ? [process.execPath, ...args] : ['taskset', '-c', sets[kind], process.execPath, ...args],
    /** Moves a running process with all its threads. */
    pin(kind, pid) {
      if (sets !== null) spawnSync('taskset', ['-acp', sets[kind], String(pid)]);
    },
  };
}
