import type { Redis } from 'ioredis';

/** An event of an account's log, as the append announced it. */
export interface BusEvent {
  account: string;
  id: string;
  prev: string;
  name: string;
  /** Addressees, in the log's notation. */
  to: string;
  appendedAtMs: number;
  /** JSON text, one line. */
  data: string;
}

/** What a replica's channel carries. */
export interface BusListener {
  event(event: BusEvent): void;
  /** Something that is not in the log: for whoever can take it now. */
  unlogged(account: string, name: string, to: string, data: string): void;
  /** The account's presence has this version now. */
  presence(account: string, version: number): void;
  /** A newer stream of the same device took this one's place. */
  superseded(account: string, streamId: string): void;
}

interface BusParts {
  connect: () => Redis;
  listener: BusListener;
  /** The subscriber was away, or was replaced: announcements may have been missed. */
  onGap: (cause: 'reconnect' | 'nonce') => void;
  now?: () => number;
}

/** A payload is header lines and, for events, the data last; only the last part may be anything but a plain word. */
function parseEvent(payload: string): BusEvent {
  const parts: string[] = [];
  let from = 2;
  for (let i = 0; i < 6; i++) {
    const end = payload.indexOf('\n', from);
    parts.push(payload.slice(from, end));
    from = end + 1;
  }
  const [account, id, prev, name, to, at] = parts as [string, string, string, string, string, string];
  return { account, id, prev, name, to, appendedAtMs: Number(at), data: payload.slice(from) };
}

/**
 * The receiving end: one channel per replica. The Redis client resubscribes by itself, but a subscriber can also hang
 * without an error (a half-open connection, a swallowed resubscribe), so this replica publishes a nonce to its own
 * channel with every lease beat, and a bus that hears none for `deafAfterMs` is rebuilt.
 */
export class Bus {
  readonly #parts: Required<BusParts>;
  #redis: Redis | null = null;
  #channel = '';
  #heardAt = 0;

  constructor(parts: BusParts) {
    this.#parts = { now: () => performance.now(), ...parts };
  }

  /** Milliseconds since anything was heard, the own nonce included. */
  get silentForMs(): number {
    return this.#parts.now() - this.#heardAt;
  }

  /** Listens on `channel` alone from now on: a replica that took a new id leaves the old one's channel. */
  async listen(channel: string): Promise<void> {
    const previous = this.#channel;
    this.#channel = channel;
    const redis = this.#redis ?? this.#open();
    await redis.subscribe(channel);
    if (previous !== '' && previous !== channel) await redis.unsubscribe(previous);
    this.#heardAt = this.#parts.now();
  }

  /** Throws the connection away and makes a new one. */
  rebuild(): void {
    this.#redis?.disconnect();
    this.#heardAt = this.#parts.now();
    this.#resubscribe(this.#open(), 'nonce');
  }

  stop(): void {
    this.#redis?.disconnect();
    this.#redis = null;
  }

  #resubscribe(redis: Redis, cause: 'reconnect' | 'nonce'): void {
    redis.subscribe(this.#channel).then(
      () => this.#parts.onGap(cause),
      // Silence follows, and silence rebuilds.
      () => undefined,
    );
  }

  #open(): Redis {
    const redis = this.#parts.connect();
    this.#redis = redis;
    let wasReady = false;
    redis.on('ready', () => {
      // The client resubscribes by itself; asking again tells when it has been done.
      if (wasReady && this.#redis === redis) this.#resubscribe(redis, 'reconnect');
      wasReady = true;
    });
    redis.on('message', (_channel: string, payload: string) => {
      if (this.#redis === redis) this.#hear(payload);
    });
    return redis;
  }

  #hear(payload: string): void {
    this.#heardAt = this.#parts.now();
    const { listener } = this.#parts;
    const kind = payload[0];
    if (kind === 'e') return listener.event(parseEvent(payload));
    const [, account = '', rest = '', to = '', data = ''] = payload.split('\n');
    if (kind === 'u') listener.unlogged(account, rest, to, data);
    if (kind === 'p') listener.presence(account, Number(rest));
    if (kind === 'x') listener.superseded(account, rest);
  }
}
