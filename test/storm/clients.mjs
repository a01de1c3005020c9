import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

/*
 * A process that holds thousands of streams as bare sockets, because the real client would cost more than what is
 * measured. Each stream behaves like that client: full jitter from half a second, doubled with each failure, and its
 * last id with each attempt. The process does the tasks of its parent, one at a time.
 */

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
const OPENING_AT_ONCE = 100;
const PROBES_AT_ONCE = 10;

/** Nothing here takes longer than this, however busy the machine is. */
const PATIENCE_MS = 120_000;

/** Where a stream that lost its replica goes. The parent sets it when it kills one. */
let refuge = null;
const streams = [];

/** Runs `act(i)` for 0 to count - 1, at most `width` of them at once. */
async function overlapped(count, width, act) {
  let next = 0;
  const worker = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const headersOf = ({ user, device, name }) => ({
  'X-Dev-User': user,
  'X-Dev-Device': device,
  'X-Dev-Name': name,
  'X-Dev-Type': 'linux',
});

class Stream {
  constructor({ user, device, name, url }) {
    Object.assign(this, { user, device, name, url });
    this.lastEventId = null;
    this.readyAt = null;
    this.lostAt = null;
    this.failures = 0;
    this.resets = 0;
    this.waiting = new Map();
  }

  /** Resolves with the first `ready`. From then on the stream comes back by itself. */
  open() {
    return new Promise((resolve) => {
      this.onReady = resolve;
      this.#connect();
    });
  }

  /** Resolves when a message with this content comes. */
  receives(content) {
    return new Promise((resolve) => this.waiting.set(content, resolve));
  }

  #connect() {
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    const headers = {
      Host: `${hostname}:${port}`,
      Accept: 'text/event-stream',
      ...headersOf(this),
      ...(this.lastEventId !== null && { 'Last-Event-ID': this.lastEventId }),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET /api/hub/events HTTP/1.1\r\n${lines.join('')}\r\n`);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        this.#take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.#lost());
  }

  #take(frame) {
    const id = /^id: ?(\S+)$/m.exec(frame)?.[1];
    if (id) this.lastEventId = id;
    const event = /^event: ?(\S+)$/m.exec(frame)?.[1];
    if (event === 'ready') {
      if (this.lostAt !== null && frame.includes('"resumed":false')) this.resets += 1;
      this.readyAt = Date.now();
      this.failures = 0;
      this.onReady?.();
    }
    if (event !== 'message') return;
    for (const [content, resolve] of this.waiting) {
      if (!frame.includes(`"content":"${content}"`)) continue;
      this.waiting.delete(content);
      resolve();
    }
  }

  #lost() {
    this.lostAt ??= Date.now();
    this.readyAt = null;
    if (refuge !== null) this.url = refuge;
    const backoffMs = Math.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.failures);
    this.failures += 1;
    setTimeout(() => this.#connect(), backoffMs);
  }
}

/** Sends a message from the other device of the account to the stream's device. Resolves when it has arrived. */
async function sendTo(stream, content, url) {
  const sender = streams[streams.indexOf(stream) ^ 1] ?? stream;
  const arrived = stream.receives(content);
  const key = randomUUID();
  for (;;) {
    const response = await fetch(`${url}/api/message`, {
      method: 'POST',
      headers: { ...headersOf(sender), 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ to_device_id: stream.device, content }),
    });
    if (response.ok) break;
    const text = await response.text();
    // On a busy machine the store may not answer in time. This tries again, as any client would.
    if (response.status !== 503) throw new Error(`${response.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  await arrived;
}

const TASKS = {
  /** Opens two devices for each account, one on each replica. */
  async open({ count, urls, prefix }) {
    for (let i = 0; i < count; i += 1) {
      const user = `${prefix}-${Math.floor(i / 2)}`;
      const number = i % 2;
      streams.push(new Stream({ user, device: `${user}-d${number}`, name: `d${number}`, url: urls[number] }));
    }
    await overlapped(count, OPENING_AT_ONCE, (i) => streams[i].open());
  },

  expectLoss({ survivor }) {
    refuge = survivor;
  },

  /**
   * Sends this many messages to streams that have just lost their replica. Waits until this process has heard of all
   * losses, which may be late, and all streams are open and have what was sent to them. Resolves to when they were open
   * and when the last message arrived (Unix ms), and to how long each lost stream took.
   */
  async untilAllReady({ losses, messages, url }) {
    const deadline = Date.now() + PATIENCE_MS;
    // The second device of each account was on the replica that is gone.
    const awaited = Promise.all(
      Array.from({ length: messages }, (_, i) => {
        const account = Math.floor((i * losses) / messages);
        return sendTo(streams[2 * account + 1], `missed ${i}`, url);
      }),
    ).then(() => Date.now());
    const lostOnes = () => streams.filter(({ lostAt }) => lostAt !== null);
    while (lostOnes().length < losses || !streams.every(({ readyAt }) => readyAt !== null)) {
      if (Date.now() > deadline) throw new Error('some streams did not come back');
      await pause(5);
    }
    const late = pause(deadline - Date.now()).then(() => Promise.reject(new Error('some messages did not arrive')));
    const allArrivedAt = await Promise.race([awaited, late]);
    const lost = lostOnes();
    return {
      missed: messages,
      allReadyAt: Math.max(...streams.map(({ readyAt }) => readyAt)),
      allArrivedAt,
      backAfterMs: lost.map(({ readyAt, lostAt }) => readyAt - lostAt),
      resets: lost.reduce((sum, { resets }) => sum + resets, 0),
    };
  },

  /** Sends a message to each of this many streams. Resolves to how many arrived, and how long the slowest took. */
  async probe({ count, url }) {
    const took = [];
    await overlapped(Math.min(count, streams.length), PROBES_AT_ONCE, async (i) => {
      const stream = streams[Math.floor((i * streams.length) / count)];
      const startedAt = performance.now();
      await sendTo(stream, `probe ${i}`, url);
      took.push(performance.now() - startedAt);
    });
    return { arrived: took.length, slowestMs: Math.max(...took) };
  },
};

process.on('message', async ({ task, given }) => {
  try {
    process.send({ result: (await TASKS[task](given)) ?? null });
  } catch (error) {
    process.send({ failed: error.stack });
  }
});
process.on('disconnect', () => process.exit());
process.send({ result: 'started' });
