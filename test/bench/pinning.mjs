import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The processors that this process may use. */
function allowed() {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((part) => {
    const [from, to = from] = part.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}

/**
 * Servers get one half of the processors, Redis and the load the other: then neither the two servers of a pair nor the
 * two kinds of server differ in what they have, and the load cannot take time from what is measured. `command` and
 * `pin` do nothing where there is no taskset, no /proc, or one processor.
 */
export function makePinning(wanted) {
  let cpus = [];
  try {
    if (wanted && spawnSync('taskset', ['--version']).status === 0) cpus = allowed();
  } catch {
    // Only Linux has /proc; elsewhere the scheduler decides, and the output says so.
  }
  const half = cpus.length >> 1;
  const sets = half === 0 ? null : { load: cpus.slice(0, half).join(','), servers: cpus.slice(half).join(',') };
  return {
    text: sets === null ? 'none' : `servers on cpu ${sets.servers}; Redis and the load on cpu ${sets.load}`,
    /** The words that start a node process on its processors. */
    command: (kind, args) =>
      sets === null ? [process.execPath, ...args] : ['taskset', '-c', sets[kind], process.execPath, ...args],
    /** Moves a running process, all its threads included. */
    pin(kind, pid) {
      if (sets !== null) spawnSync('taskset', ['-acp', sets[kind], String(pid)]);
    },
  };
}
