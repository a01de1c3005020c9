import { createHash } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './tree.mjs';

const LOOK_EVERY_MS = 100;
const SAY_AFTER_MS = 5_000;
/** The user is part of the name, because no user can remove the file of another one. */
const USER = typeof process.getuid === 'function' ? process.getuid() : '';
const FILE = join(tmpdir(), `baton-setup-${createHash('sha256').update(`${USER} ${ROOT}`).digest('hex').slice(0, 16)}`);

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Returns null when this process has the turn, otherwise the id of the process that has it. */
function holderOf(file, own) {
  try {
    linkSync(own, file);
    return null;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  try {
    const holder = Number(readFileSync(file, 'utf8'));
    if (isAlive(holder)) return holder;
    renameSync(file, `${own}.over`);
    // Another waiting process may have taken the turn meanwhile. Then this is its file, and goes back.
    if (Number(readFileSync(`${own}.over`, 'utf8')) !== holder) linkSync(`${own}.over`, file);
    return holder;
  } catch {
    // The turn has just ended.
    return 0;
  }
}

/**
 * Waits until no other process installs or builds in this checkout, because two would remove each other's files: `npm test`
 * beside `npm start`. Returns a function that ends the turn. A process that was killed holds nothing.
 */
export function takeTurn(file = FILE) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  const startedAt = Date.now();
  let isSaid = false;
  try {
    for (let holder = holderOf(file, own); holder !== null; holder = holderOf(file, own)) {
      if (!isSaid && holder !== 0 && Date.now() - startedAt > SAY_AFTER_MS) {
        process.stderr.write(`Process ${holder} installs or builds here. Waiting for its end (${file}).\n`);
        isSaid = true;
      }
      sleep(LOOK_EVERY_MS);
    }
  } finally {
    for (const path of [own, `${own}.over`]) rmSync(path, { force: true });
  }
  const end = () => rmSync(file, { force: true });
  // A set-up that gives up ends the process.
  process.once('exit', end);
  return () => {
    process.off('exit', end);
    end();
  };
}
