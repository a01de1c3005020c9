import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** How long closed things may take to disappear, such as a socket's last packets. Only leaks take this long. */
const GRACE_MS = 10_000;
const LOOK_EVERY_MS = 20;

/** The storages in which modules of this file keep the data of a call. */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function runKnown(...words) {
  storages.add(this);
  return run.apply(this, words);
};

/** Counts what keeps a process alive, by kind. Pipes are left out, because jest uses them for its workers. */
function countHandles() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== 'PipeWrap') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function newSince(before) {
  const extra = [];
  for (const [kind, count] of countHandles()) {
    const more = count - (before.get(kind) ?? 0);
    if (more > 0) extra.push(`${more} ${kind}`);
  }
  return extra;
}

/** Adds to an error what the test saw when it failed, if its file has set `globalThis.tellScene` for that. */
async function addScene(error, tellScene) {
  const scene = await tellScene?.();
  if (scene && typeof error?.stack === 'string')
    error.stack = error.stack.replace(/\n\s+at |$/, (at) => `\n${scene}${at}`);
}

/**
 * Fails a file that leaves something behind that keeps a process alive: a listening server, a socket, a child, a timer.
 * Its worker goes on with the next file, so nothing else would notice. A test that fails shows what it saw.
 */
export default class LeakFreeEnvironment extends TestEnvironment {
  #before = new Map();
  #failed = false;

  async handleTestEvent(event) {
    if (event.name === 'test_fn_failure') await addScene(event.error, this.global.tellScene);
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.#failed = true;
    if (event.name === 'setup') this.#before = countHandles();
    // A test that fails in the middle leaves things behind, and its own error says more.
    if (event.name === 'run_finish' && !this.#failed) await this.#requireNothingLeft();
  }

  async teardown() {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }

  async #requireNothingLeft() {
    const giveUpAt = Date.now() + GRACE_MS;
    while (newSince(this.#before).length > 0 && Date.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    const left = newSince(this.#before);
    if (left.length === 0) return;
    const error = new Error(`This file left behind: ${left.join(', ')}`);
    // The stack would point here, not to the cause.
    error.stack = error.message;
    throw error;
  }
}
