import type { Logger } from 'pino';
import type { RedisAddress } from '../config/redis.ts';
import { reasonOf } from './fault-reasons.ts';

/** The pause after which a lasting reason is logged again. */
const REMIND_MS = 60_000;

/** The most reasons kept. A reason may contain text of a server, and no server may fill our memory. */
const MAX_REASONS = 100;

/** The client's error without a connection. The connection itself reports why there is none. */
const NO_CONNECTION = /enableOfflineQueue/;

const isReply = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** Returns the error of the client library that is the cause of an error of the registry. */
const innermost = (error: unknown): unknown =>
  error instanceof Error && error.name === 'BatonError' ? error.cause : error;

/** The part for commands, over whatever connection. */
const REQUESTS = 'requests';

interface ReachabilityParts {
  /** The name of the store, for the log. */
  store: 'main' | 'relay' | 'broker';
  address: RedisAddress;
  logger: Logger;
  now?: () => number;
}

/**
 * Tracks whether a store can be used. Each connection is a part, and the commands over all connections are another part. A
 * failure is logged at `error` with its reason: once, again with each other reason, and each minute while it lasts. It is
 * logged once more when all parts work again.
 */
export class Reachability {
  readonly #parts: ReachabilityParts;
  readonly #at: string;
  /** Commands in a row that failed without an answer. */
  #unexplained = 0;
  readonly #failing = new Map<string, string>();
  /** When each reason was logged, since all parts last worked. */
  readonly #loggedAt = new Map<string, number>();

  constructor(parts: ReachabilityParts) {
    this.#parts = parts;
    this.#at = parts.address.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  }

  /** The latest reason of a part that fails now; null if none does. */
  get reason(): string | null {
    return [...this.#failing.values()].at(-1) ?? null;
  }

  /** Notes that a connection could not be made, or was lost. */
  failed(part: string, error: unknown): void {
    const { store, address, logger, now = () => performance.now() } = this.#parts;
    const reason = reasonOf(error, address);
    // Moves the part to the end, where the latest is.
    this.#failing.delete(part);
    this.#failing.set(part, reason);
    const loggedAt = this.#loggedAt.get(reason);
    if (loggedAt === undefined ? this.#loggedAt.size >= MAX_REASONS : now() - loggedAt < REMIND_MS) return;
    this.#loggedAt.set(reason, now());
    logger.error({ store, at: this.#at, part, reason }, 'store cannot be used');
  }

  /**
   * Notes that a command failed. Only what the connections do not report counts: an error reply of the store, or a second
   * command without an answer in time. One alone does not count, because a new connection may soon report more.
   */
  commandFailed(error: unknown): void {
    const cause = innermost(error);
    if (!(cause instanceof Error) || NO_CONNECTION.test(cause.message)) return;
    if (isReply(cause)) return this.failed(REQUESTS, cause);
    this.#unexplained += 1;
    const isExplained = [...this.#failing.keys()].some((part) => part !== REQUESTS);
    if (this.#unexplained > 1 && !isExplained) this.failed(REQUESTS, cause);
  }

  commandWorked(): void {
    this.#unexplained = 0;
    this.worked(REQUESTS);
  }

  worked(part: string): void {
    if (!this.#failing.delete(part) || this.#failing.size > 0) return;
    const { store, logger } = this.#parts;
    if (this.#loggedAt.size === 0) return;
    this.#loggedAt.clear();
    // The level is `warn`, so that an operator who sees the error in the log also sees its end.
    logger.warn({ store, at: this.#at }, 'store can be used again');
  }

  /** Returns the reachability of another store, or this one if the address is the same. */
  of(store: 'relay', address: RedisAddress): Reachability {
    const isSame = JSON.stringify(address) === JSON.stringify(this.#parts.address);
    return isSame ? this : new Reachability({ ...this.#parts, store, address });
  }
}
