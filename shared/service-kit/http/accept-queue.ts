import type { Server } from 'node:http';

/** The longest time of an idle round. A round in which nearly nothing is done takes some 0.02 ms. */
const SHORT_TURN_MS = 0.25;
const GIVE_UP_MS = 1_000;

/**
 * Calls `then` when no connection waits to be accepted. When a server stops listening, the system resets the connections
 * that still wait, and a balancer that has sent a request over one cannot know whether it was carried out. So `then` runs
 * after a short round that accepted no connection. After a second it runs after any round.
 */
export function whenNobodyWaits(server: Server, then: () => void): void {
  const giveUpAtMs = performance.now() + GIVE_UP_MS;
  let hasCome = true;
  const note = (): void => {
    hasCome = true;
  };
  const look = (lastMs: number): void => {
    const nowMs = performance.now();
    const isQuiet = !hasCome && nowMs - lastMs < SHORT_TURN_MS;
    if (!isQuiet && nowMs < giveUpAtMs) {
      hasCome = false;
      setImmediate(look, nowMs);
      return;
    }
    server.off('connection', note).off('drop', note);
    then();
  };
  server.on('connection', note).on('drop', note);
  setImmediate(look, performance.now());
}
