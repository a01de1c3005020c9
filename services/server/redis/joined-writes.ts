import type { Redis as Server } from 'ioredis';

/** So long a command waits at most, ms, for others that go with it. */
const MOST_MS = 1;

/**
 * Has the commands that a connection is given go out together, in their order: those of one turn of the event loop, and of
 * the next ones, as long as each brings more. A write costs this process more than all else that the client library does
 * for a command; the store reads each write for itself, answers it for itself, and beside a busy processor wakes up for it.
 */
export function joinWrites(server: Pick<Server, 'sendCommand'>): void {
  const send = server.sendCommand;
  let given = 0;
  server.sendCommand = function sendJoined(this: Server, ...words) {
    const { stream } = this;
    const givenBefore = given;
    given += 1;
    // Not before there is a connection, nor when it has ended: then the library refuses or keeps the command.
    if (stream?.writable && stream.writableCorked === 0) {
      stream.cork();
      const latestMs = performance.now() + MOST_MS;
      // Called when a turn has ended.
      const writeOrWait = (givenUntilThen: number): void => {
        if (given === givenUntilThen || performance.now() >= latestMs) stream.uncork();
        else setImmediate(writeOrWait, given);
      };
      setImmediate(writeOrWait, givenBefore);
    }
    return send.apply(this, words);
  };
}
