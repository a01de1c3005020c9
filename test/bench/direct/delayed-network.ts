import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket as TcpSocket } from 'node:net';

const HOST = '127.0.0.1';
const BUFFER_BYTES = 4 * 1024 * 1024;

/** The state of the network: the delay one way in milliseconds, and the share of the datagrams that is lost. */
export interface Network {
  delayMs: number;
  loss: number;
}

/** A network between processes of this machine. Its state can change while it is in use. */
export interface DelayedNetwork {
  /** Returns the port through which the network leads to the socket with this UDP port. */
  udp(port: number): Promise<number>;
  /**
   * Returns a TCP port that leads through the network to another one, which may be known later. TCP itself repairs
   * losses.
   */
  tcp(portOf: () => number): Promise<number>;
  /** Returns how many datagrams were passed on and lost since the last call. */
  count(): { passed: number; lost: number };
  stop(): void;
}

/** Makes random numbers that are the same in each run. */
function makeRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Makes a queue that calls each function at its time, in the order in which they were given. */
function makeQueue() {
  let waiting: { atMs: number; run: () => void }[] = [];
  let next = 0;
  let timer: NodeJS.Timeout | null = null;
  function drain(): void {
    timer = null;
    const nowMs = performance.now();
    for (; next < waiting.length && (waiting[next]?.atMs ?? 0) <= nowMs; next += 1) waiting[next]?.run();
    waiting = next > 4_096 || next === waiting.length ? waiting.slice(next) : waiting;
    next = waiting.length === 0 || next > 4_096 ? 0 : next;
    const first = waiting[next];
    if (first !== undefined) timer = setTimeout(drain, Math.max(1, first.atMs - nowMs));
  }
  return {
    after(ms: number, run: () => void): void {
      if (ms === 0 && waiting.length === 0) return run();
      waiting.push({ atMs: performance.now() + ms, run });
      timer ??= setTimeout(drain, ms);
    },
    stop(): void {
      if (timer !== null) clearTimeout(timer);
      waiting = [];
    },
  };
}

export function makeDelayedNetwork(state: Network): DelayedNetwork {
  const random = makeRandom();
  const queue = makeQueue();
  const sockets = new Map<number, Promise<Socket>>();
  const servers = new Set<{ close: () => unknown }>();
  const streams = new Set<TcpSocket>();
  let passed = 0;
  let lost = 0;

  /**
   * Makes a socket that stands for the one with this port. Data for the stand-in goes to that port, from the stand-in
   * of its sender.
   */
  async function makeStandIn(port: number): Promise<Socket> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES, sendBufferSize: BUFFER_BYTES });
    socket.on('error', () => {});
    socket.on('message', (bytes, from) => void pass(bytes, from.port, port));
    socket.bind(0, HOST);
    await once(socket, 'listening');
    return socket;
  }

  function standInOf(port: number): Promise<Socket> {
    const made = sockets.get(port) ?? makeStandIn(port);
    sockets.set(port, made);
    return made;
  }

  async function pass(bytes: Buffer, from: number, to: number): Promise<void> {
    const socket = await standInOf(from);
    if (random() < state.loss) {
      lost += 1;
      return;
    }
    passed += 1;
    queue.after(state.delayMs, () => socket.send(bytes, to, HOST));
  }

  function carry(from: TcpSocket, to: TcpSocket): void {
    streams.add(from);
    from.on('data', (bytes) =>
      queue.after(state.delayMs, () => {
        if (to.destroyed || to.write(bytes)) return;
        from.pause();
        to.once('drain', () => from.resume());
      }),
    );
    from.on('end', () => queue.after(state.delayMs, () => void to.end()));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      streams.delete(from);
      queue.after(state.delayMs, () => void to.end());
    });
  }

  return {
    async udp(port) {
      return (await standInOf(port)).address().port;
    },
    async tcp(portOf) {
      const server = createServer((near) => {
        const far = connect(portOf(), HOST);
        carry(near, far);
        carry(far, near);
      });
      servers.add(server);
      server.listen(0, HOST);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    count() {
      const counted = { passed, lost };
      passed = 0;
      lost = 0;
      return counted;
    },
    stop() {
      queue.stop();
      for (const server of servers) server.close();
      for (const stream of streams) stream.destroy();
      for (const socket of sockets.values()) void socket.then((one) => one.close());
    },
  };
}
