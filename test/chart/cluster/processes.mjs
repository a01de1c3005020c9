import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const STOP_WITHIN_MS = 10_000;
const READY_WITHIN_MS = 600_000;
const ASK_EVERY_MS = 100;

/**
 * Starts a program with its log in `folder`. `{ended, stop, log}`: `ended` resolves with words for how it ended, `stop` waits
 * for its end.
 */
export function startProgram({ name, path, args, folder }) {
  const file = join(folder, `${name}.log`);
  const log = createWriteStream(file);
  // It has a home of its own, because kwok reads a file there.
  const env = { PATH: process.env.PATH, HOME: folder };
  // It has a process group of its own, so that Ctrl-C of the terminal reaches only its owner, which ends it in order.
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env, cwd: folder });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  let over = false;
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(`${name} could not start: ${error.message}`));
    child.once('close', (code, signal) => resolve(`${name} ended (${signal ?? code})`));
  }).finally(() => {
    over = true;
    log.end();
  });
  // This runs however this process dies, short of being killed.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    if (!over) child.kill('SIGTERM');
    const impatience = setTimeout(kill, STOP_WITHIN_MS);
    await ended;
    clearTimeout(impatience);
    process.removeListener('exit', kill);
  };
  const lastWords = async () => (await readFile(file, 'utf8')).split('\n').slice(-15).join('\n');
  return { name, ended, stop, lastWords };
}

/** Waits until `ask` returns true. Throws with the program's last words when the program ends before, or takes too long. */
export async function untilReady(program, ask) {
  let failure = null;
  void program.ended.then((how) => (failure = how));
  const giveUpAt = Date.now() + READY_WITHIN_MS;
  while (failure === null) {
    if (await ask().catch(() => false)) return;
    if (Date.now() > giveUpAt) failure = `${program.name} is not ready`;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  throw new Error(`${failure}\n${await program.lastWords()}`);
}
