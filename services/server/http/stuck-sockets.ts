import type { Socket } from 'node:net';

interface Look {
  readonly written: number;
  readonly pending: number;
  readonly sinceMs: number;
}

/**
 * Cuts connections whose client takes nothing of what is written to it: else whoever asks for large answers and never
 * reads holds them in memory for as long as it likes. Streams and relays have shorter times of their own. A write counts
 * as taken when it is taken whole.
 */
export function makeStuckCutter(sockets: ReadonlySet<Socket>, patienceMs: number) {
  const looks = new WeakMap<Socket, Look>();

  const look = (): void => {
    const nowMs = performance.now();
    for (const socket of sockets) {
      const pending = socket.writableLength;
      if (pending === 0) {
        looks.delete(socket);
        continue;
      }
      const last = looks.get(socket);
      const written = socket.bytesWritten;
      if (last === undefined || last.written !== written || last.pending !== pending) {
        looks.set(socket, { written, pending, sinceMs: nowMs });
      } else if (nowMs - last.sinceMs >= patienceMs) socket.destroy();
    }
  };

  let timer: NodeJS.Timeout | null = setInterval(look, patienceMs / 4);
  return {
    stop(): void {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
