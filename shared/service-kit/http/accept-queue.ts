import { Server } from 'node:net';

/** The longest time of an idle round. A round in which nearly nothing is done takes some 0.02 ms. */
const SHORT_TURN_MS = 0.25;
/** The pause before the next round. A process that has just slept is seldom interrupted by others on a busy machine. */
const PAUSE_MS = 1;

/** Closes only the listening socket. `http.Server` would look at all of its connections before that. */
const closeListener = (server: Server): void => void Server.prototype.close.call(server);

/**
 * Stops listening at a moment when no connection waits to be accepted; resolves then. When a server stops listening, the
 * system resets the connections that still wait, and a balancer that has sent a request over one cannot know whether it was
 * carried out. So it happens right after a short round that accepted no connection, or after `giveUpMs`.
 *
 * A connection that comes between the end of that round and the close is still lost. At 200 connections a second, on two
 * processors with more work than they could do, 2 of 300 stops lost one.
 */
export function stopListening(server: Server, giveUpMs: number): Promise<void> {
  // Node compiles a function when it is called for the first time, which takes longer than the close itself.
  closeListener(new Server());
  const giveUpAtMs = performance.now() + giveUpMs;
  let hasCome = false;
  const note = (): void => {
    hasCome = true;
  };
  server.on('connection', note).on('drop', note);
  return new Promise((resolve) => {
    const look = (begunMs: number): void => {
      const nowMs = performance.now();
      const isQuiet = !hasCome && nowMs - begunMs < SHORT_TURN_MS;
      if (!isQuiet && nowMs < giveUpAtMs) {
        setTimeout(begin, PAUSE_MS);
        return;
      }
      closeListener(server);
      server.off('connection', note).off('drop', note);
      resolve();
    };
    // Between a timer and an immediate the event loop asks once for new connections.
    const begin = (): void => {
      hasCome = false;
      setImmediate(look, performance.now());
    };
    setTimeout(begin, PAUSE_MS);
  });
}
