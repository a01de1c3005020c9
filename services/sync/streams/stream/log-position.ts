/** How many positions are remembered: an announcement may come this late and still be known as seen. */
const REMEMBERED = 64;

/** What lies beside the log at a position, but for what was written already (ids of messages and transfers). */
export interface PendingFrom {
  readonly position: string;
  readonly written: Set<string>;
}

/** Where a stream stands in the log of its account, and what the client was sent of it. */
export class LogPosition {
  #id: string;
  /** Null until it has advanced: a quiet stream never does. */
  #recent: string[] | null = null;
  #next = 0;
  #sentId = '';
  #sentMs = 0;
  #missed = false;

  /** `id`: where the client says that it is; '' where it says nothing. */
  constructor(id: string) {
    this.#id = id;
  }

  /** The id of the entry up to which the stream has everything. */
  get id(): string {
    return this.#id;
  }

  /** Goes on to a new position; the old ones are remembered for announcements that come late. */
  advance(id: string): void {
    this.#id = id;
    this.#recent ??= [];
    this.#recent[this.#next] = id;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /** It stood there not long ago. */
  saw(id: string): boolean {
    return this.#recent?.includes(id) ?? false;
  }

  /** The client is sent a frame with the present position as its id, or is there without being told. */
  noteSent(nowMs: number): void {
    this.#sentId = this.#id;
    this.#sentMs = nowMs;
  }

  /** For so long the client has not been sent a position, and it is no longer where it was sent last. */
  isUnsent(nowMs: number, forMs: number): boolean {
    return this.#id !== this.#sentId && nowMs - this.#sentMs >= forMs;
  }

  /** An event was announced and not taken, because the stream was not live: a page that was read may be too old. */
  miss(): void {
    this.#missed = true;
  }

  /** One was since the latest page was asked for. */
  get hasMissed(): boolean {
    return this.#missed;
  }

  /** A page is asked for. */
  startPage(): void {
    this.#missed = false;
  }
}
