import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCertificate } from '../../deploy/local/setup/certificate.mjs';
import { freePort } from '../../deploy/local/setup/redis.mjs';

/* Real edges, started from the shipped files of deploy/edge. */

const SHIPPED = fileURLToPath(new URL('../../deploy/edge/', import.meta.url));
const LISTENS_WITHIN_MS = 20_000;

export const EDGE_SECRET = 'the-secret-between-edge-and-replicas-0123';

interface EdgeParts {
  /** The port of the edge. It is chosen first, so that replicas and broker can be told where the public finds them. */
  port?: number;
  /** URLs. */
  replicas: readonly string[];
  broker: string;
  /** For nginx: TLS and HTTP/2, as in site-tls.conf.sample. The edge redirects from this port. */
  redirectPort?: number;
  /** Changes the text of a shipped file, to see which check notices. */
  spoil?: (file: string, text: string) => string;
}

export interface Edge {
  readonly url: string;
  readonly process: ChildProcess;
  /** Returns everything that it logged, requests and errors. */
  readonly log: () => string;
  /** The folder of its configuration, its log and its temporary files. */
  readonly folder: string;
  stop(): Promise<void>;
}

export type EdgeKind = 'nginx' | 'caddy';

export const isInstalled = (kind: EdgeKind): boolean =>
  spawnSync(kind, [kind === 'nginx' ? '-v' : 'version'], { stdio: 'ignore' }).status === 0;

const started = new Set<Edge>();

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== null));
    socket.on('error', () => resolve(false));
  });

async function run(
  command: string,
  args: string[],
  port: number,
  options: { env?: Record<string, string>; folder: string; scheme?: string },
) {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, ...options.env },
    cwd: options.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => void (log += text));
  const accessLog = join(options.folder, 'access.log');
  const exited = once(child, 'close');
  const edge: Edge = {
    url: `${options.scheme ?? 'http'}://127.0.0.1:${port}`,
    process: child,
    folder: options.folder,
    log: () => log + (existsSync(accessLog) ? readFileSync(accessLog, 'utf8') : ''),
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(options.folder, { recursive: true, force: true });
      started.delete(edge);
    },
  };
  started.add(edge);
  const deadline = Date.now() + LISTENS_WITHIN_MS;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${command} does not listen:\n${log}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  return edge;
}

const hostOf = (url: string): string => new URL(url).host;

async function startNginx({
  port,
  replicas,
  broker,
  redirectPort,
  spoil = (_, text) => text,
}: EdgeParts & { port: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-nginx-'));
  cpSync(join(SHIPPED, 'nginx'), folder, { recursive: true });
  const change = (file: string, how: (text: string) => string) => {
    const path = join(folder, file);
    writeFileSync(path, spoil(file, how(readFileSync(path, 'utf8'))));
  };
  // Makes the changes that an installation would make, and no more.
  const withTls = (text: string): string => {
    if (redirectPort === undefined) return text;
    const { certFile, keyFile } = makeCertificate({ folder, hosts: ['127.0.0.1'] });
    const servers = readFileSync(join(folder, 'site-tls.conf.sample'), 'utf8')
      .replace(/ *listen \[::\].*\n/g, '')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('listen 80', `listen 127.0.0.1:${redirectPort}`)
      .replaceAll('baton.example', '127.0.0.1')
      .replace('/etc/ssl/baton/fullchain.pem', certFile)
      .replace('/etc/ssl/baton/key.pem', keyFile);
    return text.replace(/^server \{[\s\S]*?^\}/m, servers);
  };
  change('site.conf', (text) =>
    withTls(text)
      .replace('127.0.0.1:8080', hostOf(replicas[0] ?? ''))
      .replace('127.0.0.1:8081', hostOf(replicas[1] ?? replicas[0] ?? ''))
      .replace('127.0.0.1:8090', hostOf(broker))
      .replace('/dev/stdout', join(folder, 'access.log'))
      .replace('127.0.0.1:8088', `127.0.0.1:${port}`)
      .concat(
        ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};\n`).join(''),
      ),
  );
  writeFileSync(join(folder, 'secret.conf'), `map "" $baton_edge_secret { default "${EDGE_SECRET}"; }\n`);
  for (const file of ['baton.conf', 'headers.conf', 'identity.conf', 'no-identity.conf', 'locations.conf'])
    change(file, (text) => text);
  const args = ['-e', 'stderr', '-c', join(folder, 'nginx.conf'), '-g', `daemon off; pid ${folder}/pid;`];
  return run('nginx', args, port, { folder, ...(redirectPort !== undefined && { scheme: 'https' }) });
}

function startCaddy({ port, replicas, broker, spoil = (_, text) => text }: EdgeParts & { port: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-caddy-'));
  const path = join(folder, 'Caddyfile');
  writeFileSync(path, spoil('Caddyfile', readFileSync(join(SHIPPED, 'Caddyfile'), 'utf8')));
  const env = {
    HOME: folder,
    BATON_SITE: `http://127.0.0.1:${port}`,
    BATON_REPLICAS: replicas.map(hostOf).join(' '),
    BATON_BROKER: hostOf(broker),
    BATON_EDGE_SECRET: EDGE_SECRET,
    BATON_STORAGE: folder,
  };
  return run('caddy', ['run', '--config', path, '--adapter', 'caddyfile'], port, { env, folder });
}

/**
 * Starts the sample that stands between an edge and the broker when people log in elsewhere, as an nginx of its own.
 */
export async function startOwnLogin({ broker, auth, portal }: { broker: string; auth: string; portal: string }) {
  const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'baton-own-login-'))];
  const sample = readFileSync(join(SHIPPED, 'samples/own-login.nginx.conf'), 'utf8')
    .replace('127.0.0.1:8090', hostOf(broker))
    .replace('127.0.0.1:9091', hostOf(auth))
    .replace('127.0.0.1:8089', `127.0.0.1:${port}`)
    .replace('https://auth.example/', portal);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  writeFileSync(join(folder, 'nginx.conf'), `events {}\nhttp {\n${temporary.join('\n')}\n${sample}}\n`);
  const args = ['-e', 'stderr', '-c', join(folder, 'nginx.conf'), '-g', `daemon off; pid ${folder}/pid;`];
  return run('nginx', args, port, { folder });
}

/** Starts an edge on loopback and waits until it listens. */
export async function startEdge(kind: EdgeKind, parts: EdgeParts): Promise<Edge> {
  const port = parts.port ?? (await freePort());
  return kind === 'nginx' ? startNginx({ ...parts, port }) : startCaddy({ ...parts, port });
}

/** Ends all edges that the file still has. For `afterAll`. */
export async function stopEdges(): Promise<void> {
  await Promise.all([...started].map((edge) => edge.stop()));
}
