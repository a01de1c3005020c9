import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The engine that the tests use: the machine's, or one of their own that leaves the machine's network alone.
 */

const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 20_000;

/** Runs a command to its end and returns its stdout. Throws with all of its output when it fails. */
export function must(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
  if (done.status === 0) return done.stdout;
  const said = done.error ? done.error.message : `${done.stdout}${done.stderr}`;
  throw new Error(`${command} ${args.slice(0, 4).join(' ')} … failed:\n${said.slice(-6_000).trimEnd()}`);
}

/** Works like `must`, for commands that take long: this process goes on listening to signals. */
export function mustSoon(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (said[name] += text));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve(said.stdout);
      const all = `${said.stdout}${said.stderr}`.slice(-6_000).trimEnd();
      return reject(new Error(`${command} ${args.slice(0, 4).join(' ')} … failed:\n${all}`));
    });
  });
}

const works = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Returns why nothing can be tested here, or null. */
export function whyNot() {
  for (const program of ['docker', 'redis-server', 'redis-cli', 'nginx', 'curl', 'ldd', 'tar']) {
    if (!works('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`])) return `${program} is not installed`;
  }
  if (!works('docker', ['info']) && process.getuid() !== 0) return 'no engine answers, and only root may start one';
  if (!works('docker', ['info']) && !works('sh', ['-c', 'command -v dockerd'])) return 'no Docker engine answers here';
  return null;
}

/** Uses Debian's Compose v2 from a folder where it was unpacked: APP_TEST_COMPOSE. */
export function useCompose(folder) {
  if (works('docker', ['compose', 'version'])) return null;
  const program = process.env.APP_TEST_COMPOSE;
  if (program === undefined || !existsSync(program)) return 'Compose v2 is not installed';
  mkdirSync(join(folder, 'cli-plugins'), { recursive: true });
  symlinkSync(program, join(folder, 'cli-plugins/docker-compose'));
  process.env.DOCKER_CONFIG = folder;
  return works('docker', ['compose', 'version']) ? null : 'Compose v2 does not run here';
}

const ended = (child) => new Promise((resolve) => child.once('exit', resolve));

/**
 * Makes sure that an engine answers. An engine of the tests' own has its data in `folder` and touches neither packet
 * filter nor forwarding, so its published ports are only reachable on loopback. `stop` ends it.
 */
export async function startEngine(folder) {
  if (works('docker', ['info'])) return { stop: async () => {}, own: false };
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, 'dockerd.log'), 'w');
  const socket = `unix://${join(folder, 'docker.sock')}`;
  const places = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')];
  const quiet = ['--iptables=false', '--ip-forward=false', '--bridge=none'];
  const child = spawn('dockerd', [...places, '--pidfile', join(folder, 'pid'), '-H', socket, ...quiet], {
    stdio: ['ignore', log, log],
    // A Ctrl-C must not end it before its containers are gone.
    detached: true,
  });
  const over = ended(child);
  process.env.DOCKER_HOST = socket;
  const stop = async () => {
    child.kill('SIGTERM');
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await over;
    clearTimeout(impatience);
    // The engine leaves its own network namespace mounted.
    for (const line of readFileSync('/proc/mounts', 'utf8').split('\n')) {
      const [, at = ''] = line.split(' ');
      if (at.startsWith(`${folder}/`)) works('umount', [at]);
    }
  };
  const giveUpAt = Date.now() + START_WITHIN_MS;
  while (!works('docker', ['info'])) {
    if (child.exitCode !== null || Date.now() > giveUpAt) {
      await stop();
      throw new Error(`dockerd does not start:\n${must('tail', ['-n', '20', join(folder, 'dockerd.log')])}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { stop, own: true };
}
