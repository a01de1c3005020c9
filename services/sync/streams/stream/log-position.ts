/** Number of positions that are remembered, so that an announcement this late is still recognized as seen. */
const REMEMBERED = 64;

/** What is pending beside the log at a position, and the ids of messages and transfers that were written already. */
export interface PendingFrom {
  readonly position: string;
  readonly written: Set<string>;
}

/** The position of a stream in the log of its account, and the position that the client was sent. */
export class LogPosition {
  #id: string;
  /** Recent positions; null until the stream advances, which a quiet one never does. */
  #recent: string[] | null = null;
  #next = 0;
  #sentId = '';
  #sentMs = 0;
  #missed = false;

  /** `id`: the position that the client sent; '' when it sent none. */
  constructor(id: string) {
    this.#id = id;
  }

  /** Id of the entry up to which the stream has everything. */
  get id(): string {
    return this.#id;
  }

  /** Advances to a new position, and remembers recent ones for announcements that come late. */
  advance(id: string): void {
    this.#id = id;
    this.#recent ??= [];
    this.#recent[this.#next] = id;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /** Returns whether the stream was at this position recently. */
  saw(id: string): boolean {
    return this.#recent?.includes(id) ?? false;
  }

  /** Notes that the client knows the current position, from the id of a frame or without one. */
  noteSent(nowMs: number): void {
    this.#sentId = this.#id;
    this.#sentMs = nowMs;
  }

  /** Returns whether the client was sent no position for `forMs`, and the position has changed since the last one. */
  isUnsent(nowMs: number, forMs: number): boolean {
    return this.#id !== this.#sentId && nowMs - this.#sentMs >= forMs;
  }

  /**
   * Notes an event that was announced and not taken because the stream was not live. A page that was read may be too
   * old.
   */
  miss(): void {
    this.#missed = true;
  }

  /** Whether an event was missed since the latest page was requested. */
  get hasMissed(): boolean {
    return this.#missed;
  }

  /** Notes that a page is requested. */
  startPage(): void {
    this.#missed = false;
  }
}
