import { connect } from 'node:net';
import { identityLines, PATHS, requestText } from './wire.mjs';

const ID = /^id: ?(\S+)$/m;

/** The event stream of a device, as a bare socket. An event comes in one chunk, so the bytes around it do no harm. */
export class Listener {
  #socket = null;
  #text = '';
  #onReady = null;
  #opening = null;

  /** `onFrame(name, text)` is called with each event, `onLost()` at an end that nobody asked for. */
  constructor({ user, device, url, onFrame, onLost }) {
    Object.assign(this, { user, device, url, onFrame, onLost });
    this.lastEventId = null;
    this.isLive = false;
    this.isWanted = true;
  }

  /**
   * Connects from the last position, unless it is connecting already. Resolves with `ready`; rejects with anything else that
   * the server says.
   */
  open() {
    this.isWanted = true;
    if (this.#opening !== null) return this.#opening;
    const opening = this.#connect().finally(() => {
      if (this.#opening === opening) this.#opening = null;
    });
    this.#opening = opening;
    return opening;
  }

  /** The next `open` connects to another server. */
  moveTo(url) {
    this.url = url;
  }

  /** Cuts the connection, like a client that is gone. */
  cut() {
    const socket = this.#socket;
    this.#socket = null;
    this.#opening = null;
    this.isLive = false;
    this.isWanted = false;
    socket?.destroy();
  }

  #connect() {
    const { hostname, port, host } = new URL(this.url);
    const identity = identityLines(this.user, this.device);
    const position = this.lastEventId === null ? '' : `\r\nLast-Event-ID: ${this.lastEventId}`;
    const socket = connect({ host: hostname, port: Number(port) });
    this.#socket = socket;
    this.#text = '';
    socket.write(requestText({ method: 'GET', path: PATHS.stream, host, identity: identity + position }), 'latin1');
    socket.on('data', (chunk) => socket === this.#socket && this.#take(chunk.latin1Slice(0, chunk.length)));
    return new Promise((resolve, reject) => {
      this.#onReady = resolve;
      const over = (error) => {
        const wasLive = this.isLive && socket === this.#socket;
        if (!wasLive) return reject(error);
        this.#socket = null;
        this.isLive = false;
        this.onLost?.();
      };
      socket.on('error', over);
      socket.on('close', () => over(new Error(`A stream was refused: ${this.#text.slice(0, 500)}`)));
    });
  }

  #take(chunk) {
    this.#text += chunk;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      this.#frame(this.#text.slice(0, end));
      this.#text = this.#text.slice(end + 2);
    }
  }

  #frame(text) {
    const at = text.indexOf('event: ');
    if (at < 0) return;
    const lineEnd = text.indexOf('\n', at);
    const name = text.slice(at + 7, lineEnd < 0 ? undefined : lineEnd);
    const id = ID.exec(text)?.[1];
    if (id !== undefined) this.lastEventId = id;
    if (name === 'ready') {
      this.isLive = true;
      this.#onReady();
    }
    this.onFrame?.(name, text);
  }
}
