import type { Stream } from './stream/stream.ts';

/** The streams of one account on this replica. */
export interface AccountStreams {
  account: string;
  streams: Set<Stream>;
  /** The highest presence version that was heard of. */
  presenceVersion: number;
  presenceReading: boolean;
  /** The latest read of the log; the next one waits for it. */
  reading: Promise<unknown>;
}

/** What this replica holds: nothing but sockets, by account and in the order in which they came. */
export class LocalStreams {
  readonly all = new Map<string, Stream>();
  readonly #accounts = new Map<string, AccountStreams>();
  /** Ids of closed streams by account, as long as the store may not know of their end. */
  readonly #leaving = new Map<string, Set<string>>();

  /** How many are open. */
  get size(): number {
    return this.all.size;
  }

  /** Bytes that clients have not taken yet. */
  get bufferedBytes(): number {
    let bytes = 0;
    for (const stream of this.all.values()) bytes += stream.socket.bufferedBytes;
    return bytes;
  }

  /** The account's open streams, undefined when there are none. */
  find(account: string): AccountStreams | undefined {
    return this.#accounts.get(account);
  }

  /** The account's streams that have their row in the store by right: those that are open, and those that leave. */
  idsOf(account: string): string[] {
    const open = Array.from(this.#accounts.get(account)?.streams ?? [], ({ id }) => id);
    return [...open, ...(this.#leaving.get(account) ?? [])];
  }

  /** A stream of it has closed, and the store may not know. */
  isLeaving(account: string): boolean {
    return this.#leaving.has(account);
  }

  /** It is open from now on. */
  add(stream: Stream): void {
    const { account } = stream;
    this.all.set(stream.id, stream);
    const existing = this.#accounts.get(account);
    if (existing) return void existing.streams.add(stream);
    const streams = new Set([stream]);
    this.#accounts.set(account, {
      account,
      streams,
      presenceVersion: 0,
      presenceReading: false,
      reading: Promise.resolve(),
    });
  }

  /** It has closed; `forget` says that the store knows. */
  remove(stream: Stream): void {
    this.all.delete(stream.id);
    this.#leaving.set(stream.account, (this.#leaving.get(stream.account) ?? new Set()).add(stream.id));
    const entry = this.#accounts.get(stream.account);
    entry?.streams.delete(stream);
    if (entry?.streams.size === 0) this.#accounts.delete(stream.account);
  }

  /** The store knows of its end. */
  forget({ account, id }: Stream): void {
    const ids = this.#leaving.get(account);
    ids?.delete(id);
    if (ids?.size === 0) this.#leaving.delete(account);
  }
}
