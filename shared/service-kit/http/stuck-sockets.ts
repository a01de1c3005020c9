import type { Socket } from 'node:net';

interface Sample {
  readonly written: number;
  readonly pending: number;
  readonly sinceMs: number;
}

/**
 * Makes a timer that cuts connections whose client reads nothing of what is written to it. Otherwise a client that requests
 * large responses and never reads them could keep them in memory forever. Streams and relays have their own, shorter times.
 * A write counts as read only when all of it is.
 */
export function makeStuckCutter(sockets: ReadonlySet<Socket>, patienceMs: number) {
  const samples = new WeakMap<Socket, Sample>();

  const check = (): void => {
    const nowMs = performance.now();
    for (const socket of sockets) {
      const pending = socket.writableLength;
      if (pending === 0) {
        samples.delete(socket);
        continue;
      }
      const last = samples.get(socket);
      const written = socket.bytesWritten;
      if (last === undefined || last.written !== written || last.pending !== pending) {
        samples.set(socket, { written, pending, sinceMs: nowMs });
      } else if (nowMs - last.sinceMs >= patienceMs) socket.destroy();
    }
  };

  let timer: NodeJS.Timeout | null = setInterval(check, patienceMs / 4);
  return {
    stop(): void {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
