import { Cluster, type ClusterOptions, Redis as Server, type RedisOptions } from 'ioredis';
import type { RedisAddress, RedisNode } from '../config/redis.ts';
import { closeWatchAtEnd, joinWrites, refreshSlots } from './work-arounds.ts';

/** The longest time a command waits for its answer, so that a client gets its 503 within 3 s. */
export const COMMAND_TIMEOUT_MS = 2_000;

/**
 * How long a connection may be silent while an answer is pending. Then it is closed, because a half-open one would swallow
 * commands until the kernel gives it up after a quarter of an hour. It is longer than the timeout of a command, so that a
 * slow answer is not mistaken for a dead peer.
 */
const SILENT_SOCKET_MS = 2_500;

/** How long no node of a cluster must fail until its connection counts as working again. */
const QUIET_MS = 10_000;

/** Returns a delay with full jitter, from 50 ms to 1 s: replicas that lose a store together must not return together. */
const retryDelayMs = (attempt: number): number => 50 + Math.random() * Math.min(950, 50 * 2 ** Math.min(attempt, 6));

/**
 * The one type of connection that other folders use. They never import the Redis client itself. It may be a cluster, because
 * besides scripts modules use only commands with one key, which work the same there.
 */
export type { Redis } from 'ioredis';

/** The two actual kinds of a connection. */
export type Connection = Server | Cluster;

interface ConnectionParts {
  address: RedisAddress;
  /** The name in CLIENT LIST. */
  name: string;
  onError: (error: Error) => void;
  /** Called when it is connected, whatever it was before. */
  onWell?: () => void;
}

/** The options without `replyMapping`, by which the client's types would derive the form of every reply. */
type ServerOptions = Omit<RedisOptions, 'replyMapping'>;

/** Returns our present users at the servers and at the sentinels. */
function currentUsers({ address: { user, sentinelUser, mode } }: ConnectionParts) {
  const sentinel = { sentinelUsername: sentinelUser.username, sentinelPassword: sentinelUser.password };
  const own = { username: user.username, password: user.password };
  const all = mode === 'sentinel' ? { ...own, ...sentinel } : own;
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== null)) as Partial<Record<string, string>>;
}

/**
 * Renews the users of a connection. The library has no provider of credentials
 * (https://github.com/redis/ioredis/pull/2039, on hold): it reads them from the public `options` at each connect.
 */
const renewUsers = (server: Server, parts: ConnectionParts): void => {
  Object.assign(server.options, currentUsers(parts));
};

function sharedOptions({ address: { tls }, name }: ConnectionParts) {
  return {
    connectionName: name,
    // CLIENT SETINFO is newer than Redis 7.0.
    disableClientInfo: true,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    ...(tls && { tls: {} }),
  };
}

/** Returns the options for one server, or for the one that the sentinels name as primary. */
function serverOptions(parts: ConnectionParts): ServerOptions {
  const { nodes, mode, master, db, tls } = parts.address;
  const users = currentUsers(parts);
  const shared: ServerOptions = { ...sharedOptions(parts), ...users, lazyConnect: true, db };
  if (mode !== 'sentinel') return { ...shared, ...nodes[0] };
  return {
    ...shared,
    sentinels: nodes.map((node) => ({ ...node })),
    name: master,
    // Follows +switch-master, because a primary that was cut off, not killed, keeps its connections open.
    failoverDetector: true,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    sentinelRetryStrategy: retryDelayMs,
    sentinelReconnectStrategy: retryDelayMs,
    // If we are still connected to a demoted primary, it refuses writes, so ask the sentinels again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

const closed = new WeakSet<Connection>();
const revivals = new WeakMap<Connection, NodeJS.Timeout>();

const refreshes = new WeakMap<Connection, NodeJS.Timeout>();

/**
 * Reports why a server connection cannot be used. The library reports nothing if a server closes the connection before it
 * has sent anything, as one that expects TLS does, and it hides the answers of sentinels.
 */
function reportServer(server: Server, { onError, onWell }: ConnectionParts): void {
  let isExplained = false;
  let sentinels: Error | null = null;
  server.on('connecting', () => {
    isExplained = false;
  });
  server.on('sentinelError', (error: Error) => {
    sentinels = error;
  });
  server.on('error', (error: Error) => {
    isExplained = true;
    const isSentinels = sentinels !== null && error.message.startsWith('All sentinels are unreachable');
    onError(isSentinels ? (sentinels as Error) : error);
  });
  server.on('ready', () => {
    isExplained = true;
    onWell?.();
  });
  server.on('close', () => {
    if (!isExplained && !closed.has(server)) onError(new Error('The server closed the connection'));
  });
}

/** Reports why a cluster cannot be used. Its nodes fail independently. */
function reportCluster(cluster: Cluster, { onError, onWell }: ConnectionParts): void {
  let failedAtMs = Number.NEGATIVE_INFINITY;
  const failed = (error: Error): void => {
    if (closed.has(cluster)) return;
    failedAtMs = performance.now();
    onError(error);
  };
  cluster.on('error', failed);
  cluster.on('node error', failed);
  cluster.on('ready', () => onWell?.());
  // The slot map is fetched regularly, from a node that answers.
  cluster.on('refresh', () => {
    if (performance.now() - failedAtMs > QUIET_MS) onWell?.();
  });
}

function openCluster(
  parts: ConnectionParts,
  options: Pick<ClusterOptions, 'enableOfflineQueue' | 'retryDelayOnFailover' | 'shardedSubscribers'>,
  nodeOptions: { socketTimeout?: number } = {},
): Cluster {
  const cluster = new Cluster(
    parts.address.nodes.map((node) => ({ ...node })),
    {
      lazyConnect: true,
      // With this check a cluster that lost one primary could not use the others.
      enableReadyCheck: false,
      clusterRetryStrategy: retryDelayMs,
      // Names are not resolved here: certificates are issued to names, and a node that moves keeps its name.
      dnsLookup: (host, done) => done(null, host),
      redisOptions: { ...sharedOptions(parts), ...nodeOptions },
      ...options,
    },
  );
  cluster.on('+node', (node: Server) => renewUsers(node, parts));
  reportCluster(cluster, parts);
  // One that was only made keeps no process that fails to start.
  cluster.once('ready', () => {
    if (!closed.has(cluster)) refreshes.set(cluster, refreshSlots(cluster));
  });
  return cluster;
}

/** Ends a connection for good. */
export function close(connection: Connection): void {
  closed.add(connection);
  clearTimeout(revivals.get(connection));
  clearInterval(refreshes.get(connection));
  connection.disconnect();
}

/**
 * Opens a server connection that always comes back. The library's own watch for a new primary can end a connection for
 * good, if the sentinels announce it while a reconnect is under way (measured: one client of twelve at the second failover).
 */
function openServer(parts: ConnectionParts, options: ServerOptions): Server {
  const retry = (attempt: number): number => {
    renewUsers(server, parts);
    return retryDelayMs(attempt);
  };
  /** Renews the watch for a new primary. It keeps the password of its making, so it is made again with the connection. */
  const retryWatch = (attempt: number): number => {
    const { sentinelPassword } = server.options;
    renewUsers(server, parts);
    if (server.options.sentinelPassword !== sentinelPassword) server.disconnect(true);
    return retryDelayMs(attempt);
  };
  const watched = { sentinelRetryStrategy: retry, sentinelReconnectStrategy: retryWatch };
  const server: Server = new Server({
    ...serverOptions(parts),
    retryStrategy: retry,
    ...(parts.address.mode === 'sentinel' && watched),
    ...options,
  });
  reportServer(server, parts);
  server.on('end', () => {
    if (closed.has(server)) return;
    // A failure causes another `end`, or the library's own next try.
    revivals.set(
      server,
      setTimeout(() => void server.connect().catch(parts.onError), retry(1)),
    );
  });
  return server;
}

/**
 * Opens the connection for commands and scripts. Without a connection a command fails at once (no offline queue). The
 * library resends nothing after a reconnect (`maxRetriesPerRequest`, and in a cluster `retryDelayOnFailover`).
 * `sendUntilAnswered` resends, and tells the script so. A cluster still follows MOVED and ASK, which mean that the command
 * did not run. Auto-pipelining is off, because it halves the rate of scripts (measured).
 */
export function connectCommands(parts: ConnectionParts): Connection {
  if (parts.address.mode === 'cluster') {
    const options = { enableOfflineQueue: false, retryDelayOnFailover: 0 };
    const cluster = openCluster(parts, options, { socketTimeout: SILENT_SOCKET_MS });
    cluster.on('+node', joinWrites);
    return cluster;
  }
  const server = openServer(parts, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENT_SOCKET_MS,
  });
  joinWrites(server);
  return server;
}

/**
 * Opens the connection on which replicas are waited for, to this node of a cluster or to the primary. The wait holds up all
 * later commands of that connection. It ends with its socket and resends nothing, because on another connection WAIT would
 * not refer to the same writes.
 */
export function connectWaiting(parts: ConnectionParts, node: RedisNode | null, timeoutMs: number): Server {
  const address: RedisAddress = node === null ? parts.address : { ...parts.address, mode: 'standalone', nodes: [node] };
  const server = new Server({
    ...serverOptions({ ...parts, address }),
    commandTimeout: timeoutMs,
    retryStrategy: () => null,
  });
  server.on('error', parts.onError);
  closeWatchAtEnd(server);
  return server;
}

/** Opens the connection that subscribes. It subscribes again after a reconnect, and the bus checks that it hears. */
export const connectSubscriber = (parts: ConnectionParts): Server => openServer(parts, { maxRetriesPerRequest: null });

/** Opens the subscriber in a cluster. It connects to the node that owns the channel, and follows the channel's slot. */
export const connectShardedSubscriber = (parts: ConnectionParts): Cluster =>
  openCluster(parts, { shardedSubscribers: true });
