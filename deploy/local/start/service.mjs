import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { ROOT } from '../setup/tree.mjs';

/**
 * Environment for a replica on Linux. The C library keeps up to 32 MiB of freed memory, including sizes that it would
 * request from the system one by one. Otherwise it returns the memory and faults it in again for each part of a relayed
 * file, which costs a tenth of the processor time (measured).
 */
export const REPLICA_MEMORY = {
  MALLOC_TRIM_THRESHOLD_: String(32 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
};

const READY_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 100;

/** Asks once. Resolves to null when the response is 200, otherwise to its text. */
function whyNotReady(readyUrl) {
  return new Promise((resolve) => {
    const request = get(readyUrl, { timeout: 1_000, agent: false }, (answer) => {
      let said = '';
      answer.setEncoding('utf8').on('data', (text) => (said += text));
      answer.on('close', () => resolve(answer.statusCode === 200 ? null : said));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', (error) => resolve(error.message));
  });
}

/**
 * Starts one service of the build (`main` is its entry there) as a child in its own process group, so that a Ctrl-C of
 * the terminal reaches only its owner.
 * Its log goes to stderr, each line with its name in front. It holds one end of a channel to this process, and ends
 * itself when this process is gone, even if it was killed.
 *
 * `ended` resolves to words for how it ended. `ready` resolves to null once `readyUrl` answers 200, or to the reason if
 * it ended or took too long. `stop` asks it to end, and kills it after `patienceMs`.
 */
export function startService({ name, main, readyUrl, env }) {
  const child = spawn(process.execPath, ['--enable-source-maps', join(ROOT, 'dist/services', main)], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const logEnds = [child.stdout, child.stderr].map((stream) => {
    const log = createInterface({ input: stream });
    log.on('line', (line) => process.stderr.write(`[${name}] ${line}\n`));
    return new Promise((resolve) => log.once('close', resolve));
  });

  let over = false;
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not start: ${error.message}`));
    child.once('exit', async (code, signal) => {
      // This waits for its last log lines. ('close' would wait for them, but does not come when this process closes the
      // channel itself.)
      await Promise.all(logEnds);
      resolve(signal === null ? `ended with exit code ${code}` : `was killed (${signal})`);
    });
  });
  void ended.then(() => (over = true));

  const ready = async () => {
    const giveUpAt = Date.now() + READY_WITHIN_MS;
    let why = 'it ended';
    while (!over && Date.now() < giveUpAt) {
      why = await whyNotReady(readyUrl);
      if (why === null) return null;
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
    return why;
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
