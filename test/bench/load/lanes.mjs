import { connect } from 'node:net';

/*
 * Requests go as an edge sends them: over a few kept connections, each of which carries one request at a time, from any
 * client. They are bare sockets, because Node's client takes several times what is measured.
 */

const HEAD_END = '\r\n\r\n';
/**
 * The limit is well below the time after which a server closes an unused connection, because a request must not meet
 * that.
 */
const IDLE_MS = 20_000;

class Lane {
  #socket;
  #bytes = null;
  #waiting = null;
  #usedMs = performance.now();

  constructor({ hostname, port }) {
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('A connection was closed')));
  }

  get isStale() {
    return performance.now() - this.#usedMs > IDLE_MS;
  }

  /** Resolves to the status and the body of the answer. Only one request at a time is allowed. */
  ask(text) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(text, 'latin1');
    });
  }

  close() {
    this.#socket.destroy();
  }

  #take(chunk) {
    this.#bytes = this.#bytes === null ? chunk : Buffer.concat([this.#bytes, chunk]);
    const headEnd = this.#bytes.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#bytes.latin1Slice(0, headEnd);
    const status = Number(head.slice(9, 12));
    const length = status === 204 ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
    if (Number.isNaN(length)) return this.#fail(new Error(`An answer without its length:\n${head}`));
    const end = headEnd + HEAD_END.length + length;
    if (this.#bytes.length < end) return;
    const body = this.#bytes.utf8Slice(end - length, end);
    this.#bytes = null;
    const { resolve } = this.#waiting;
    this.#waiting = null;
    this.#usedMs = performance.now();
    resolve({ status, body });
  }

  #fail(error) {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/** Makes the connections to one server: as many as are needed at once. */
export function makeLanes(url) {
  const { hostname, port, host } = new URL(url);
  const free = [];
  const all = new Set();
  const drop = (lane) => {
    all.delete(lane);
    lane.close();
  };
  function take() {
    for (let lane = free.pop(); lane !== undefined; lane = free.pop()) {
      if (!lane.isStale) return lane;
      drop(lane);
    }
    const lane = new Lane({ hostname, port });
    all.add(lane);
    return lane;
  }
  return {
    host,
    /** Sends a request; rejects unless it succeeded. */
    async ask(text) {
      const lane = take();
      const { status, body } = await lane.ask(text);
      free.push(lane);
      if (status < 200 || status > 299) throw new Error(`${text.slice(0, text.indexOf('\r'))}: ${status} ${body}`);
      return body;
    },
    close() {
      for (const lane of all) drop(lane);
    },
  };
}
