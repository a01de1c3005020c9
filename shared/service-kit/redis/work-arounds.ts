import { type Cluster, Redis as Server } from 'ioredis';

/*
 * All work-arounds for ioredis, each with the address of what it answers. `work-arounds.test.ts` shows with the library as it
 * is that each is still needed: a test that fails there says that one can go.
 */

/**
 * After a reconnect the library subscribes again by itself and drops the promise: an answer that does not come in time,
 * or never because the connection is closed meanwhile, would end the process (seen: three replicas in ten minutes of
 * chaos on a busy machine). Mended upstream, and not yet released: https://github.com/redis/ioredis/pull/2187. On the
 * prototype, because the connections on which the library listens to sentinels are made out of our reach.
 */
const subscribe = Server.prototype.subscribe as (...words: unknown[]) => Promise<unknown>;
Server.prototype.subscribe = function subscribeAndTakeFailure(...words: unknown[]) {
  const subscribed = subscribe.apply(this, words);
  subscribed.catch(() => undefined);
  return subscribed;
};

/**
 * The library listens for one error of a socket. One that is closed during the TLS handshake can have another,
 * as late as its alert arrives, and would end the process (measured: half of the connections closed there):
 * https://github.com/redis/ioredis/pull/962, closed without being merged. On the prototype for the same reason, and because the
 * library closes nodes and sentinels itself.
 */
const disconnect = Server.prototype.disconnect;
function disconnectAndTakeErrors(server: Server, words: Parameters<typeof disconnect>): void {
  findSocket(server)?.on('error', () => undefined);
  disconnect.apply(server, words);
}

/** The socket of a connection; undefined where it has none yet, or one that is over. */
function findSocket({ stream }: { stream?: Server['stream'] }): Server['stream'] | undefined {
  return stream?.destroyed === false ? stream : undefined;
}

Server.prototype.disconnect = function disconnectWhenThereIsASocket(...words) {
  // A socket that is being made is seen from the next turn of the event loop on.
  if (this.status === 'connecting' && findSocket(this) === undefined)
    setImmediate(disconnectAndTakeErrors, this, words);
  else disconnectAndTakeErrors(this, words);
};

/** A cluster that lost a primary without our noticing (no MOVED, no closed connection) is found out this late. */
const SLOTS_REFRESH_MS = 5_000;

/**
 * Refreshes the slots of a cluster until the timer is cleared. The library's own timer (`slotsRefreshInterval`,
 * https://github.com/redis/ioredis/pull/641) goes on for ever when the connection is closed during a refresh: that kept replicas
 * from ending (measured: one of three in a rolling restart), and a replaced subscriber in memory.
 */
export const refreshSlots = (cluster: Cluster): NodeJS.Timeout =>
  setInterval(() => {
    // The next refresh makes up for one that failed.
    if (cluster.status === 'ready') cluster.refreshSlotsCache(() => undefined);
  }, SLOTS_REFRESH_MS);

/** At this age, ms, the oldest command waits for no further turn; one that has begun is waited for, however long it takes. */
const MOST_MS = 1;

/**
 * ioredis writes each command by itself. It could gather them (https://github.com/redis/ioredis/pull/343, closed), and its
 * auto-pipelining (https://github.com/redis/ioredis/pull/1201) halves the rate of scripts. This can go when commands of one turn
 * leave in one write.
 *
 * Gathers the commands that a connection is given, and writes them together, in their order, when a turn of the event loop
 * has brought no more. So a command that stays alone waits for one turn after its own. A write costs this process more than
 * all else that the client library does for a command. The store reads each write for itself, answers it for itself, and,
 * where the processor is busy, is woken up for it alone, with its data no longer in the cache.
 */
export function joinWrites(server: Pick<Server, 'sendCommand'>): void {
  const send = server.sendCommand;
  let given = 0;
  server.sendCommand = function sendJoined(this: Server, ...words) {
    const { stream } = this;
    const givenBefore = given;
    given += 1;
    // Without a connection, and when it has ended, the library refuses or keeps the command.
    if (stream?.writable && stream.writableCorked === 0) {
      stream.cork();
      const latestMs = performance.now() + MOST_MS;
      // At the end of each turn; of the stream that was corked, also where the client has another one by now.
      const writeOrWait = (givenAtLastEnd: number): void => {
        if (given === givenAtLastEnd || performance.now() >= latestMs) stream.uncork();
        else setImmediate(writeOrWait, given);
      };
      // The turn in which the first command is given brings at least that one.
      setImmediate(writeOrWait, givenBefore);
    }
    return send.apply(this, words);
  };
}
