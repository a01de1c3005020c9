import { randomUUID } from 'node:crypto';
import { createParser } from 'eventsource-parser';

const AGAIN_AFTER_MS = 300;
const PATIENCE_MS = 20_000;

/** One device of one account, which knows nothing but the public address. */
export class Device {
  #origin;
  #cookie = '';

  constructor(origin, name) {
    this.#origin = origin;
    this.name = name;
    this.id = `device-${randomUUID()}`;
  }

  async ask(method, path, { body, json, headers = {}, signal = AbortSignal.timeout(PATIENCE_MS) } = {}) {
    const answer = await fetch(`${this.#origin}${path}`, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        Origin: this.#origin,
        ...(this.#cookie === '' ? {} : { Cookie: this.#cookie }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? body : JSON.stringify(json),
      ...(body === undefined ? {} : { duplex: 'half' }),
    });
    for (const cookie of answer.headers.getSetCookie()) [this.#cookie] = cookie.split(';');
    return answer;
  }

  /** Works like `ask`, for answers with JSON. Throws unless the answer has this status. */
  async call(method, path, { status = 200, ...options } = {}) {
    const answer = await this.ask(method, path, options);
    const said = await answer.text();
    if (answer.status !== status) throw new Error(`${method} ${path} was answered ${answer.status}: ${said}`);
    return said === '' ? null : JSON.parse(said);
  }

  /** Does the development login, and makes a session of this device. */
  async signIn(user) {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const login = await this.ask('POST', '/login/dev', { body: `user=${user}`, headers });
    await login.text();
    if (login.status !== 303) throw new Error(`the login was answered ${login.status}`);
    const json = { device_id: this.id, device_name: this.name, device_type: 'linux' };
    return this.call('POST', '/api/auth/device-session', { json });
  }
}

/** A stream that comes back by itself from where it was, with everything that it has received. */
export class Stream {
  events = [];
  /** How often the stream was opened. */
  opened = 0;
  #device;
  #last = '';
  #leave = new AbortController();
  #over;

  constructor(device) {
    this.#device = device;
    this.#over = this.#run();
  }

  named(name) {
    return this.events.filter(({ event }) => event === name);
  }

  /** Acknowledges messages, which takes them out of the mailbox. */
  acknowledge(ids) {
    return this.#device.call('POST', '/api/message/ack', { json: { message_ids: ids } });
  }

  async leave() {
    this.#leave.abort();
    await this.#over;
  }

  async #run() {
    while (!this.#leave.signal.aborted) {
      await this.#once().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
    }
  }

  async #once() {
    const headers = this.#last === '' ? {} : { 'Last-Event-ID': this.#last };
    const answer = await this.#device.ask('GET', '/api/hub/events', { headers, signal: this.#leave.signal });
    if (answer.status !== 200) return void (await answer.text());
    this.opened += 1;
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (id !== undefined) this.#last = id;
        this.events.push({ event, data: JSON.parse(data), at: Date.now() });
      },
    });
    const decoder = new TextDecoder();
    for await (const bytes of answer.body) parser.feed(decoder.decode(bytes, { stream: true }));
  }
}
