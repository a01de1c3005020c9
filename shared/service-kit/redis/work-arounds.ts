import { type Cluster, Redis as Server } from 'ioredis';

/*
 * All workarounds for ioredis, each with the address of its issue. `work-arounds.test.ts` proves with the unchanged library
 * that each is still needed. If a test fails there, its workaround can be removed.
 */

/**
 * After a reconnect the library subscribes again by itself and drops the promise. An answer that is late, or never comes
 * because the connection is closed meanwhile, would end the process (seen: three replicas in ten minutes of chaos on a busy
 * machine). It is fixed upstream, and not yet released: https://github.com/redis/ioredis/pull/2187. The patch is on the
 * prototype, because the library makes the connections that listen to sentinels out of our reach.
 */
const subscribe = Server.prototype.subscribe as (...words: unknown[]) => Promise<unknown>;
Server.prototype.subscribe = function subscribeAndTakeFailure(...words: unknown[]) {
  const subscribed = subscribe.apply(this, words);
  subscribed.catch(() => undefined);
  return subscribed;
};

/**
 * The library listens for only one error of a socket. A socket that is closed during the TLS handshake can have a second
 * one, as late as its alert arrives, which would end the process (measured: half of the connections closed there):
 * https://github.com/redis/ioredis/pull/962, closed without being merged. The patch is on the prototype for the same reason,
 * and because the library closes nodes and sentinels itself.
 *
 * The library makes the watch for a new primary when the socket connects, also if the connection was closed before. That
 * watch connects to the sentinels again and again, and keeps a process that should end. So the connection is closed a second
 * time then. The fault is fixed upstream, and the fix is not yet released: https://github.com/redis/ioredis/pull/2198.
 */
const disconnect = Server.prototype.disconnect;
function disconnectFully(server: Server, words: Parameters<typeof disconnect>): void {
  const socket = findSocket(server)?.on('error', () => undefined);
  if (server.status === 'connecting') {
    for (const event of ['connect', 'secureConnect']) socket?.once(event, () => disconnect.apply(server, words));
  }
  disconnect.apply(server, words);
}

/** Returns the socket of a connection; undefined if it has none yet, or only a destroyed one. */
function findSocket({ stream }: { stream?: Server['stream'] }): Server['stream'] | undefined {
  return stream?.destroyed === false ? stream : undefined;
}

Server.prototype.disconnect = function disconnectWhenThereIsASocket(...words) {
  // A socket that is being made is visible from the next round on.
  if (this.status === 'connecting' && findSocket(this) === undefined) setImmediate(disconnectFully, this, words);
  else disconnectFully(this, words);
};

/**
 * Closes the watch for a new primary of a connection that is not opened again. The library leaves it when the connection ends
 * by itself, and it connects to the sentinels for ever. This is fixed upstream too, and not yet released:
 * https://github.com/redis/ioredis/pull/2198.
 */
export const closeWatchAtEnd = (server: Server): void => void server.once('end', () => server.disconnect());

/** The longest time until the loss of a primary is noticed without a MOVED and without a closed connection. */
const SLOTS_REFRESH_MS = 5_000;

/**
 * Refreshes the slots of a cluster until the timer is cleared. The library's own timer (`slotsRefreshInterval`,
 * https://github.com/redis/ioredis/pull/641) runs forever if the connection is closed during a refresh. It prevented
 * replicas from ending (measured: one of three in a rolling restart), and kept a replaced subscriber in memory.
 */
export const refreshSlots = (cluster: Cluster): NodeJS.Timeout =>
  setInterval(() => {
    // If one refresh fails, the next one makes up for it.
    if (cluster.status === 'ready') cluster.refreshSlotsCache(() => undefined);
  }, SLOTS_REFRESH_MS);

/** The age in ms from which the oldest command waits for no further round, but still for the end of one that has begun. */
const MOST_MS = 3;

/**
 * Gathers the commands of a connection, and writes them together, in their order, after a round that brought no more. So a
 * single command waits for one round after its own. A write costs this process more than all else that the client library
 * does for a command. The store reads and answers each write separately. On a busy processor it is woken up for each one,
 * with its data no longer in the cache.
 *
 * ioredis writes each command separately. A change that gathers them was closed
 * (https://github.com/redis/ioredis/pull/343), and its auto-pipelining (https://github.com/redis/ioredis/pull/1201) halves
 * the rate of scripts. This can be removed when ioredis sends the commands of one round in one write.
 */
export function joinWrites(server: Pick<Server, 'sendCommand'>): void {
  const send = server.sendCommand;
  let given = 0;
  server.sendCommand = function sendJoined(this: Server, ...words) {
    const { stream } = this;
    const givenBefore = given;
    given += 1;
    // Without a connection, or after its end, the library refuses or keeps the command.
    if (stream?.writable && stream.writableCorked === 0) {
      stream.cork();
      const latestMs = performance.now() + MOST_MS;
      // Runs at the end of each round, on the stream that was corked, even if the client has another one by now.
      const writeOrWait = (givenAtLastEnd: number): void => {
        if (given === givenAtLastEnd || performance.now() >= latestMs) stream.uncork();
        else setImmediate(writeOrWait, given);
      };
      // The round of the first command brings at least that one.
      setImmediate(writeOrWait, givenBefore);
    }
    return send.apply(this, words);
  };
}
