import type { Server } from 'node:http';

/** A turn of the event loop in which next to nothing is done takes some 0.02 ms. */
const SHORT_TURN_MS = 0.25;
const GIVE_UP_MS = 1_000;

/**
 * Calls `then` in a moment in which nobody waits to be accepted. The system resets the connections that still wait when a
 * server stops listening, and a balancer that has sent a request over one cannot know whether it was carried out. So this
 * is a turn of the event loop that found nobody waiting and was over at once. After a second it is any turn.
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
