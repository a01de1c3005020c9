import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type Direction = 'to store' | 'to replica';

/** Changes bytes of the store's replies; the length stays. */
type Rewrite = (bytes: Buffer) => Buffer;

/** A TCP proxy between one replica and one node of the store. It misbehaves on command. */
export interface Proxy {
  readonly url: string;
  readonly port: number;
  /**
   * Holds back the bytes of one direction while it lasts; none are lost. Connections made meanwhile work, unless `newOnesToo`.
   * Returns the function that ends it: the held bytes flow, or both ends are cut.
   */
  hold(direction: Direction, options: { newOnesToo: boolean }): (end: 'release' | 'cut') => void;
  /** Delays both directions. */
  delay(ms: number): void;
  /**
   * Cuts each connection in the middle of a reply of the store, after so many more bytes; null cuts no more. Returns how many
   * were cut since the last call.
   */
  cutAfter(bytes: number | null): number;
  /** The number of connections through the proxy. */
  readonly lines: number;
  stop(): Promise<void>;
}

/** One direction of one connection. Bytes leave in the order in which they came, as soon as they may. */
class Pipe {
  readonly #to: Socket;
  readonly #waiting: { bytes: Buffer; dueAt: number }[] = [];
  #timer: NodeJS.Timeout | null = null;
  held = false;
  delayMs = 0;

  constructor(from: Socket, to: Socket, rewrite: Rewrite = (bytes) => bytes) {
    this.#to = to;
    from.on('data', (bytes) => {
      this.#waiting.push({ bytes: rewrite(bytes), dueAt: performance.now() + this.delayMs });
      this.flush();
    });
  }

  flush(): void {
    if (this.held || this.#timer !== null) return;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0.5) {
        this.#timer = setTimeout(() => {
          this.#timer = null;
          this.flush();
        }, waitMs);
        return;
      }
      this.#waiting.shift();
      this.#to.write(next.bytes);
    }
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

interface Line {
  pipes: Record<Direction, Pipe>;
  cut: () => void;
  /** Bytes of the store that may still pass before the line is cut; null: any number. */
  left: number | null;
}

export async function startProxy(target: { port: number; rewrite?: Rewrite }): Promise<Proxy> {
  const lines = new Set<Line>();
  const holding = new Set<Direction>();
  let delayMs = 0;
  let cuts = 0;

  const server = createServer((client) => {
    const upstream = connect(target.port, '127.0.0.1');
    const line: Line = { pipes: {} as Line['pipes'], cut: () => undefined, left: null };
    line.cut = () => {
      lines.delete(line);
      for (const pipe of Object.values(line.pipes)) pipe.stop();
      client.destroy();
      upstream.destroy();
    };
    // This listener comes before the pipe's own, so that the bytes up to the cut still pass.
    upstream.on('data', (bytes: Buffer) => {
      if (line.left === null) return;
      line.left -= bytes.length;
      if (line.left > 0) return;
      cuts += 1;
      client.write(bytes.subarray(0, bytes.length + line.left));
      upstream.removeAllListeners('data');
      client.end();
      setTimeout(line.cut, 5);
    });
    line.pipes = { 'to store': new Pipe(client, upstream), 'to replica': new Pipe(upstream, client, target.rewrite) };
    for (const [direction, pipe] of Object.entries(line.pipes)) {
      pipe.held = holding.has(direction as Direction);
      pipe.delayMs = delayMs;
    }
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', line.cut);
    }
    lines.add(line);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');

  return {
    url: `redis://127.0.0.1:${address.port}`,
    port: address.port,
    hold(direction, { newOnesToo }) {
      const held = [...lines];
      if (newOnesToo) holding.add(direction);
      for (const { pipes } of held) pipes[direction].held = true;
      return (end) => {
        holding.delete(direction);
        for (const line of newOnesToo ? lines : held) {
          if (end === 'cut') line.cut();
          line.pipes[direction].held = false;
          line.pipes[direction].flush();
        }
      };
    },
    delay(ms) {
      delayMs = ms;
      for (const { pipes } of lines) for (const pipe of Object.values(pipes)) pipe.delayMs = ms;
    },
    cutAfter(bytes) {
      for (const line of lines) line.left = bytes;
      const done = cuts;
      cuts = 0;
      return done;
    },
    get lines() {
      return lines.size;
    },
    async stop() {
      for (const line of lines) line.cut();
      server.close();
      await once(server, 'close');
    },
  };
}
