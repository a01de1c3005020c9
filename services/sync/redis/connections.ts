import { Redis } from 'ioredis';

/** No command waits longer for its answer; a client gets its 503 within 3 s. */
const COMMAND_TIMEOUT_MS = 2_000;

/** Full jitter between 50 ms and 1 s: replicas that lost a store together must not come back together. */
const retryDelayMs = (attempt: number): number => 50 + Math.random() * Math.min(950, 50 * 2 ** Math.min(attempt, 6));

interface ConnectionParts {
  url: string;
  /** Shown by CLIENT LIST: `baton:<what>:<replica>`. */
  name: string;
  onError: (error: Error) => void;
}

/**
 * The connection for commands and scripts. Nothing waits for a connection that is away: a command then fails at once
 * (no offline queue). What was sent and not answered is sent again after a reconnect; scripts are safe against that
 * by their operation ids. Auto-pipelining stays off: it halves the rate of scripts (measured).
 */
export function connectCommands({ url, name, onError }: ConnectionParts): Redis {
  const redis = new Redis(url, {
    connectionName: name,
    // CLIENT SETINFO is newer than Redis 7.0.
    disableClientInfo: true,
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: retryDelayMs,
  });
  redis.on('error', onError);
  return redis;
}

/** The connection that listens. It keeps its subscriptions over a reconnect; the bus checks that it really hears. */
export function connectSubscriber({ url, name, onError }: ConnectionParts): Redis {
  const redis = new Redis(url, {
    connectionName: name,
    // CLIENT SETINFO is newer than Redis 7.0.
    disableClientInfo: true,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: retryDelayMs,
  });
  redis.on('error', onError);
  return redis;
}

/** The one type of connection other folders hold; they never import the Redis client itself. */
export type { Redis } from 'ioredis';
