import type { Redis as Server } from 'ioredis';

/**
 * Has the commands that a connection is given within one turn of the event loop go out in one write, in their order. A
 * write costs this process more than all else that the client library does for a command, and the store reads each for
 * itself and answers it for itself.
 */
export function joinWrites(server: Pick<Server, 'sendCommand'>): void {
  const send = server.sendCommand;
  server.sendCommand = function sendJoined(this: Server, ...words) {
    const { stream } = this;
    // Not before there is a connection, nor when it has ended: then the library refuses or keeps the command.
    if (stream?.writable && stream.writableCorked === 0) {
      stream.cork();
      setImmediate(() => stream.uncork());
    }
    return send.apply(this, words);
  };
}
