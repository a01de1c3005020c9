import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** How long what was closed may take to be gone: a socket's last packets, the exit of a child. Only what leaks waits so long. */
const GRACE_MS = 10_000;
const LOOK_EVERY_MS = 20;

/** Where the modules of this file keep what belongs to a call. */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function runKnown(...words) {
  storages.add(this);
  return run.apply(this, words);
};

/** What keeps a process alive, with how many of each. Pipes are left out: they are jest's own to its workers. */
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

/**
 * Fails a file that leaves behind what would keep a process alive: a listening server, a socket, a child, a timer.
 * The worker that ran it goes on with the next file, so nothing else would notice.
 */
export default class LeakFreeEnvironment extends TestEnvironment {
  #before = new Map();
  #failed = false;

  async handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.#failed = true;
    if (event.name === 'setup') this.#before = countHandles();
    // A test that failed in the middle leaves things behind, and its own error says more.
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
    // The stack would lead here, not to the culprit.
    error.stack = error.message;
    throw error;
  }
}
