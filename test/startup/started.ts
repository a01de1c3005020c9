import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../deploy/local/setup/redis.mjs';

/** One line of the log. */
export type Line = Record<string, unknown> & { level: number; msg: string };

/** A replica or a broker, ready or not. */
export interface Started {
  readonly port: number;
  readonly adminPort: number;
  readonly process: ChildProcess;
  readonly log: () => string;
  /** Returns the lines of the log so far that fit. */
  lines(fits: (line: Line) => boolean): Line[];
  /** Resolves to the first line that fits, from now on or already there. */
  says(fits: (line: Line) => boolean): Promise<Line>;
  /** The answer of the admin port. */
  asks(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Resolves to its exit code. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

const running = new Set<Started>();

export const STORE_FAILS = ({ msg }: Line): boolean => msg === 'store cannot be used';
export const STORE_IS_BACK = ({ msg }: Line): boolean => msg === 'store can be used again';

/** Starts `main` of the build with only this environment, and does not wait for anything. */
export async function start(main: 'sync' | 'broker', env: Record<string, string>): Promise<Started> {
  const entry = fileURLToPath(new URL(`../../dist/services/${main}/main.js`, import.meta.url));
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH, ...portsOf(main, port, adminPort), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  const outputs = [child.stdout, child.stderr] as Readable[];
  for (const output of outputs) output.setEncoding('utf8').on('data', (text) => (log += text));
  const lines = (fits: (line: Line) => boolean) =>
    log
      .split('\n')
      .filter((text) => text.startsWith('{') && text.endsWith('}'))
      .map((text) => JSON.parse(text) as Line)
      .filter(fits);
  // The child itself emits no `close` when this side has disconnected.
  const closed = outputs.map((output) => once(output, 'close'));
  const ended = Promise.all([once(child, 'exit'), ...closed]).then(([[code]]) => code as number | null);
  const started: Started = {
    port,
    adminPort,
    process: child,
    log: () => log,
    lines,
    ended,
    async says(fits) {
      let found = lines(fits);
      while (found.length === 0) {
        const over = await Promise.race([
          once(child.stdout as Readable, 'data').then(() => false),
          ended.then(() => true),
        ]);
        found = lines(fits);
        if (over && found.length === 0) throw new Error(`it ended without saying so:\n${log}`);
      }
      return found[0] as Line;
    },
    async asks(path) {
      const answer = await fetch(`http://127.0.0.1:${adminPort}${path}`);
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      running.delete(started);
    },
  };
  running.add(started);
  return started;
}

function portsOf(main: 'sync' | 'broker', port: number, adminPort: number): Record<string, string> {
  if (main === 'broker') {
    return {
      BROKER_HOST: '127.0.0.1',
      BROKER_PORT: String(port),
      BROKER_ADMIN_PORT: '0',
      BROKER_TOKENS: 'baton:a-token-of-the-service',
    };
  }
  return {
    APP_IDENTITY: 'dev',
    APP_PORT: String(port),
    APP_ADMIN_PORT: String(adminPort),
    APP_DRAIN_SECONDS: '0',
    APP_DRAIN_TRANSFER_SECONDS: '0',
  };
}

/** Ends the processes that the file still has; for `afterEach`. */
export async function stopStarted(): Promise<void> {
  await Promise.all([...running].map((started) => started.stop()));
}
