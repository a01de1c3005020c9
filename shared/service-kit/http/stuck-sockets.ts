import type { Socket } from 'node:net';

interface Sample {
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
