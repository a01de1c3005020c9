import type { Redis as Server } from 'ioredis';

/** At this age, ms, the oldest command waits for no further turn; one that has begun is waited for, however long it takes. */
const MOST_MS = 1;

/**
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
