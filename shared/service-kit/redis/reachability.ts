import type { Logger } from 'pino';
import type { RedisAddress } from '../config/redis.ts';
import { reasonOf } from './fault-reasons.ts';

/** How often a reason that lasts is logged. */
const REMIND_MS = 60_000;

/** A reason may hold what a server says; no server may fill our memory. */
const MAX_REASONS = 100;

/** The client had no connection to send on: why it has none is known from the connection itself. */
const NO_CONNECTION = /enableOfflineQueue/;

const isReply = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** Behind an error of the registry stands the one that the client library raised. */
const innermost = (error: unknown): unknown =>
  error instanceof Error && error.name === 'BatonError' ? error.cause : error;

/** The part of those who ask, over whatever connection. */
const REQUESTS = 'requests';

interface ReachabilityParts {
  /** Which store, for the log. */
  store: 'main' | 'relay' | 'broker';
  address: RedisAddress;
  logger: Logger;
  now?: () => number;
}

/**
 * Whether a store can be used, part by part: each connection is a part, and the commands over them another. What fails
 * is logged at `error` with its reason: once, again with each other reason, and each minute while it lasts; and once
 * more when all parts work again.
 */
export class Reachability {
  readonly #parts: ReachabilityParts;
  readonly #at: string;
  /** Commands in a row that failed without an answer. */
  #unexplained = 0;
  readonly #failing = new Map<string, string>();
  /** When each reason was logged, since all was well. */
  readonly #loggedAt = new Map<string, number>();

  constructor(parts: ReachabilityParts) {
    this.#parts = parts;
    this.#at = parts.address.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  }

  /** The latest of a part that fails now; null while none does. */
  get reason(): string | null {
    return [...this.#failing.values()].at(-1) ?? null;
  }

  /** A connection could not be made, or was lost. */
  failed(part: string, error: unknown): void {
    const { store, address, logger, now = () => performance.now() } = this.#parts;
    const reason = reasonOf(error, address);
    // To the end, where the latest is.
    this.#failing.delete(part);
    this.#failing.set(part, reason);
    const loggedAt = this.#loggedAt.get(reason);
    if (loggedAt === undefined ? this.#loggedAt.size >= MAX_REASONS : now() - loggedAt < REMIND_MS) return;
    this.#loggedAt.set(reason, now());
    logger.error({ store, at: this.#at, part, reason }, 'store cannot be used');
  }

  /**
   * A command failed. Only what the connections do not know is news: an answer of the store; or none in time, twice, since
   * a connection that is being made may soon say more.
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
    // At `warn`, so that whoever saw the error in the log also sees its end.
    logger.warn({ store, at: this.#at }, 'store can be used again');
  }

  /** Those of another store, or these where it is the same. */
  of(store: 'relay', address: RedisAddress): Reachability {
    const isSame = JSON.stringify(address) === JSON.stringify(this.#parts.address);
    return isSame ? this : new Reachability({ ...this.#parts, store, address });
  }
}
