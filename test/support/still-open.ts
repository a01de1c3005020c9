import type { ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How long a process may take to write its report. */
const REPORTS_WITHIN_MS = 5_000;

interface Endpoint {
  ip4?: string;
  ip6?: string;
  port: number;
}

/** A handle in a report of Node (https://nodejs.org/api/report.html). */
interface Handle {
  type: string;
  is_active: boolean;
  is_referenced?: boolean;
  firesInMsFromNow?: number;
  localEndpoint?: Endpoint | null;
  remoteEndpoint?: Endpoint | null;
}

const shown = (end: Endpoint | null | undefined): string => (end ? `${end.ip4 ?? end.ip6}:${end.port}` : 'nowhere');

function describe({ type, localEndpoint, remoteEndpoint, firesInMsFromNow: inMs }: Handle): string {
  if (type === 'tcp') return `tcp ${shown(localEndpoint)} -> ${shown(remoteEndpoint)}`;
  return inMs === undefined ? type : `${type} in ${Math.round(inMs)} ms`;
}

/**
 * Lets a process report at a signal what keeps it. `flags` start it. `tell` resolves to its handles, one a line; a socket that
 * is bound or listens leads nowhere.
 */
export function makeStillOpen(name: string) {
  const file = `baton-open-${process.pid}-${name}.json`;
  const path = join(tmpdir(), file);
  return {
    flags: ['--report-on-signal', `--report-directory=${tmpdir()}`, `--report-filename=${file}`],
    async tell(child: ChildProcess): Promise<string> {
      child.kill('SIGUSR2');
      const giveUpAt = Date.now() + REPORTS_WITHIN_MS;
      let handles: Handle[] | null = null;
      while (handles === null && child.exitCode === null && Date.now() < giveUpAt) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        // A file that is being written is no JSON yet.
        handles = await readFile(path, 'utf8')
          .then((text) => (JSON.parse(text) as { libuv: Handle[] }).libuv)
          .catch(() => null);
      }
      await rm(path, { force: true });
      const kept = handles?.filter((each) => each.is_active && each.is_referenced) ?? [];
      return handles === null ? 'no report came' : kept.map(describe).join('\n');
    },
  };
}
