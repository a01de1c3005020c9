import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { startDeviceSession } from '../../shared/client/session/sign-in.ts';
import { fileSession } from '../../shared/client/node/session.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';

const PROGRAM = fileURLToPath(new URL('../../services/cli/dist/baton.js', import.meta.url));
const WITHIN_MS = 60_000;

/** One run of the program. */
export interface Run {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves to the match as soon as either output matches. */
  says(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Its end: the status, or 128 plus the signal's number. */
  readonly status: Promise<number>;
  /** Returns the most memory that it has had so far. */
  peakMib(): number;
}

interface RunOptions {
  /** Runs it on a pseudo-terminal of 80 columns: both outputs come as one, and input counts as keys. */
  onTerminal?: boolean;
  input?: string | NodeJS.ReadableStream;
  env?: Record<string, string>;
  /** Takes standard output as bytes, which are not kept. */
  onBytes?: (bytes: Buffer) => void;
}

/** A device: the program with a folder of its own for configuration, and a working folder. */
export interface Terminal {
  readonly folder: string;
  readonly config: string;
  run(args: readonly string[], options?: RunOptions): Run;
  /** Runs it to its end. Throws if its status is not `status`. */
  ok(
    args: readonly string[],
    options?: { input?: string; status?: number },
  ): Promise<{ stdout: string; stderr: string }>;
}

/** Terminals of one address, with their folders. */
export interface Terminals {
  readonly door: { readonly url: string };
  terminal(): Terminal;
  /** Makes terminals that are devices of one account, by these names. */
  devices(...names: string[]): Promise<Terminal[]>;
}

/** Replicas, a broker, and terminals. The door is one address for both replicas, and can be shut. */
export interface CliSite extends Terminals {
  readonly site: SignInSite;
  readonly door: Door;
  stop(): Promise<void>;
}

/** A very simple balancer: each connection goes to the current replica. */
export interface Door {
  readonly url: string;
  lead(url: string): void;
  /** Ends every connection, and accepts no other until it is opened again. */
  shut(): void;
  open(): void;
  /**
   * Keeps back the answer to a request that begins like this, after this many that pass. Resolves when there is one.
   */
  keepAnswer(request: string, passed?: number): Promise<void>;
  /**
   * Refuses each request that begins like this, and makes its client wait this long. None of them reaches a replica.
   */
  refuse(request: string, code: string, retryAfterSeconds: number): void;
  /** Gives this answer to each request that begins like this, as a proxy does, until the request is null. */
  answer(request: string | null, answer: string): void;
}

async function openDoor(to: string): Promise<Door & { close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  let [target, isOpen] = [new URL(to), true];
  let kept: { request: string; passed: number; resolve: () => void } | null = null;
  let refused: { request: string; answer: string } | null = null;
  const server = createServer((client) => {
    const upstream = isOpen ? connect(Number(target.port), target.hostname) : null;
    for (const socket of [client, upstream]) {
      if (socket === null) continue;
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream?.destroy();
      });
    }
    if (upstream === null) return void client.destroy();
    client.on('data', (bytes) => {
      if (refused === null || !bytes.toString('latin1').startsWith(refused.request)) return;
      upstream.removeAllListeners('close').destroy();
      client.end(refused.answer);
    });
    client.pipe(upstream).pipe(client, { end: false });
    upstream.on('end', () => client.end());
    client.on('data', (bytes) => {
      if (kept === null || !bytes.toString('latin1').startsWith(kept.request)) return;
      kept.passed -= 1;
      if (kept.passed >= 0) return;
      upstream.unpipe(client);
      // Without a reader it would stop.
      upstream.once('data', kept.resolve).resume();
      kept = null;
    });
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    lead(url) {
      target = new URL(url);
    },
    shut() {
      isOpen = false;
      cut();
    },
    open() {
      isOpen = true;
    },
    keepAnswer: (request, passed = 0) =>
      new Promise((resolve) => {
        kept = { request, passed, resolve };
      }),
    refuse(request, code, retryAfterSeconds) {
      const body = JSON.stringify({ code, status: 429, title: 'Too many requests' });
      const head = ['HTTP/1.1 429 Too Many Requests', `Retry-After: ${retryAfterSeconds}`, 'Connection: close'];
      head.push('Content-Type: application/problem+json', `Content-Length: ${body.length}`);
      refused = { request, answer: `${head.join('\r\n')}\r\n\r\n${body}` };
    },
    answer(request, answer) {
      refused = request === null ? null : { request, answer };
    },
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Returns the words of a command that runs these on a pseudo-terminal, and ends as they end (`script` of util-linux).
 */
function terminalCommand(words: readonly string[]): string[] {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  return ['script', '--quiet', '--return', '--command', `stty cols 80 rows 24; exec ${quoted.join(' ')}`, '/dev/null'];
}

function start(args: readonly string[], cwd: string, { env = {}, input, onBytes, onTerminal }: RunOptions): Run {
  const words = [process.execPath, PROGRAM, ...args];
  const [command = '', ...rest] = onTerminal ? terminalCommand(words) : words;
  const child = spawn(command, rest, {
    cwd,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
    stdio: 'pipe',
  });
  const watchers = new Set<() => void>();
  const texts = { stdout: '', stderr: '' };
  if (onBytes !== undefined) child.stdout.on('data', onBytes);
  for (const name of ['stdout', 'stderr'] as const) {
    if (name === 'stdout' && onBytes !== undefined) continue;
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      for (const look of watchers) look();
    });
  }
  child.stdin.on('error', () => undefined);
  if (typeof input === 'object') input.pipe(child.stdin);
  else if (!onTerminal) child.stdin.end(input ?? '');
  const status = once(child, 'close').then(([code, signal]) => {
    for (const look of watchers) look();
    return code === null ? (signal === 'SIGKILL' ? 137 : 130) : (code as number);
  });
  let isOver = false;
  void status.then(() => {
    isOver = true;
    for (const look of watchers) look();
  });
  return {
    child,
    status,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const all = () => `${texts.stdout}\n${texts.stderr}`;
        const end = (settle: () => void) => {
          clearTimeout(timer);
          watchers.delete(look);
          settle();
        };
        const look = () => {
          const match = pattern.exec(all());
          if (match) end(() => resolve(match));
          else if (isOver) end(() => reject(new Error(`ended without ${pattern}:\n${all()}`)));
        };
        const timer = setTimeout(() => end(() => reject(new Error(`not ${pattern}:\n${all()}`))), WITHIN_MS);
        watchers.add(look);
        look();
      }),
    peakMib: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
  };
}

/**
 * Makes terminals that use this address. `logIn` returns the headers of a person who has just logged in, for the first
 * device of an account.
 */
export function makeTerminals({
  door,
  logIn,
}: {
  door: { readonly url: string };
  logIn: () => Promise<Record<string, string>>;
}): Terminals & { stop(): void } {
  const top = mkdtempSync(join(tmpdir(), 'baton-cli-'));
  const running = new Set<ChildProcess>();
  let count = 0;

  function terminal(): Terminal {
    const folder = mkdtempSync(join(top, `${(count += 1)}-`));
    const config = join(folder, '.config');
    const run: Terminal['run'] = (args, options = {}) => {
      const env = { BATON_CONFIG_DIR: config, BATON_URL: door.url, ...options.env };
      const made = start(args, folder, { ...options, env });
      running.add(made.child);
      void made.status.then(() => running.delete(made.child));
      return made;
    };
    return {
      ...{ folder, config, run },
      async ok(args, { input, status: wanted = 0 } = {}) {
        const made = run(args, input === undefined ? {} : { input });
        const status = await made.status;
        const [stdout, stderr] = [made.stdout(), made.stderr()];
        if (status !== wanted)
          throw new Error(`baton ${args.join(' ')}: ${status}, not ${wanted}\n${stdout}\n${stderr}`);
        return { stdout, stderr };
      },
    };
  }

  return {
    ...{ door, terminal },
    async devices(...names) {
      const headers = await logIn();
      const made = names.map(() => terminal());
      await startDeviceSession({
        ...{ baseUrl: door.url, headers },
        ...{ deviceId: crypto.randomUUID(), deviceName: names[0] as string, deviceType: 'linux' },
        session: fileSession(join((made[0] as Terminal).config, 'session.json')),
      });
      for (const [index, each] of made.entries()) {
        if (index === 0) continue;
        const asking = each.run(['login', door.url, '--name', names[index] as string]);
        const [link] = await asking.says(/http:\/\/\S+\/link\?\S+/);
        await (made[0] as Terminal).ok(['approve', link, '--yes']);
        if ((await asking.status) !== 0) throw new Error(asking.stderr());
      }
      return made;
    },
    stop() {
      for (const child of running) child.kill('SIGKILL');
      rmSync(top, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

export async function startCliSite(): Promise<CliSite> {
  const site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0' });
  const door = await openDoor(site.one.url);
  const logIn = async () => ({ Cookie: (await site.logIn()).cookie, Origin: 'http://localhost:8080' });
  const { terminal, devices, stop } = makeTerminals({ door, logIn });
  return {
    ...{ site, door, terminal, devices },
    async stop() {
      stop();
      await door.close();
      await site.stop();
    },
  };
}
