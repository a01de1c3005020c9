import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { ROOT } from './tree.mjs';

const MAIN = join(ROOT, 'dist/services/sync/main.js');
const READY_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 100;

/** One question to `/readyz`: true when it answers 200. */
function isReady({ host, adminPort }) {
  return new Promise((resolve) => {
    const request = get({ host, port: adminPort, path: '/readyz', timeout: 1_000, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

/**
 * Starts one replica as a child of its own process group, so that a Ctrl-C of the terminal reaches only its owner.
 * Its log goes to stderr, each line with its name in front. It holds one end of a channel to us and ends itself when
 * we are gone, however hard we died.
 *
 * `ended` resolves with words for how it ended; `ready` with true once it serves, false when it ended or took too
 * long; `stop` asks it to end and kills it when it has not done so after `patienceMs`.
 */
export function startReplica({ name, host, adminPort, env }) {
  const child = spawn(process.execPath, ['--enable-source-maps', MAIN], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => process.stderr.write(`[${name}] ${line}\n`));
  }

  let over = false;
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not start: ${error.message}`));
    child.once('close', (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was killed (${signal})`),
    );
  });
  void ended.then(() => (over = true));

  const ready = async () => {
    const giveUpAt = Date.now() + READY_WITHIN_MS;
    while (!over && Date.now() < giveUpAt) {
      if (await isReady({ host, adminPort })) return !over;
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
    return false;
  };

  const stop = async (patienceMs) => {
    if (over) return;
    child.kill('SIGTERM');
    if (child.connected) child.disconnect();
    const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    await ended;
    clearTimeout(impatience);
  };

  return { name, pid: child.pid, child, ended, ready, stop, isOver: () => over };
}
