import type { Stream } from './stream/stream.ts';

/** The streams of one account on this replica. */
export interface AccountStreams {
  account: string;
  streams: Set<Stream>;
  /** Highest presence version that was announced. */
  presenceVersion: number;
  presenceReading: boolean;
  /** The latest read of the log; the next one waits for it. Null before the first. */
  reading: Promise<unknown> | null;
}

/** The streams that this replica holds, by id and by account. */
export class LocalStreams {
  /** Open streams by id, in the order of their last sweep, the oldest first. */
  readonly all = new Map<string, Stream>();
  readonly #accounts = new Map<string, AccountStreams>();
  /** Ids of closed streams by account, as long as the store may not know of their end. */
  readonly #leaving = new Map<string, string[]>();

  /** Number of open streams. */
  get size(): number {
    return this.all.size;
  }

  /** Bytes that clients have not taken yet. */
  get bufferedBytes(): number {
    let bytes = 0;
    for (const stream of this.all.values()) bytes += stream.socket.bufferedBytes;
    return bytes;
  }

  /** Returns the account's open streams, undefined when there are none. */
  find(account: string): AccountStreams | undefined {
    return this.#accounts.get(account);
  }

  /**
   * Returns the ids of the account's streams that may have a row in the store: those that are open, and those that
   * leave.
   */
  idsOf(account: string): string[] {
    const ids = this.#leaving.get(account)?.slice() ?? [];
    for (const { id } of this.#accounts.get(account)?.streams ?? []) ids.push(id);
    return ids;
  }

  /** Returns whether a stream of the account has closed and the store may not know. */
  isLeaving(account: string): boolean {
    return this.#leaving.has(account);
  }

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
      reading: null,
    });
  }

  /** Moves a stream to the end of the order, because the sweep has reached it. */
  toEnd(stream: Stream): void {
    if (this.all.delete(stream.id)) this.all.set(stream.id, stream);
  }

  /** Removes a stream that has closed; `forget` says that the store knows. */
  remove(stream: Stream): void {
    this.all.delete(stream.id);
    const leaving = this.#leaving.get(stream.account);
    if (leaving === undefined) this.#leaving.set(stream.account, [stream.id]);
    else leaving.push(stream.id);
    const entry = this.#accounts.get(stream.account);
    entry?.streams.delete(stream);
    if (entry?.streams.size === 0) this.#accounts.delete(stream.account);
  }

  /** Forgets a closed stream, because the store knows of its end. */
  forget({ account, id }: Stream): void {
    const ids = this.#leaving.get(account)?.filter((one) => one !== id) ?? [];
    if (ids.length > 0) this.#leaving.set(account, ids);
    else this.#leaving.delete(account);
  }
}
