import { Cluster, type ClusterOptions, Redis as Server, type RedisOptions } from 'ioredis';
import type { RedisAddress, RedisNode } from '../config/redis.ts';
import { joinWrites, refreshSlots } from './work-arounds.ts';

/** No command waits longer for its answer; a client gets its 503 within 3 s. */
export const COMMAND_TIMEOUT_MS = 2_000;

/**
 * A connection on which an answer is pending and that has been silent for this long is thrown away: a half-open one
 * would swallow commands until the kernel gives up on it, a quarter of an hour later. Later than the command's own timeout, so that
 * a slow answer is not taken for a dead peer.
 */
const SILENT_SOCKET_MS = 2_500;

/** A connection to a cluster counts as well again when none of its nodes failed for so long. */
const QUIET_MS = 10_000;

/** Full jitter between 50 ms and 1 s: replicas that lost a store together must not come back together. */
const retryDelayMs = (attempt: number): number => 50 + Math.random() * Math.min(950, 50 * 2 ** Math.min(attempt, 6));

/**
 * The one type of connection other folders hold; they never import the Redis client itself. It may stand for a
 * cluster: beside scripts, modules use commands with one key, which mean the same there.
 */
export type { Redis } from 'ioredis';

/** The two kinds that it really is. */
export type Connection = Server | Cluster;

interface ConnectionParts {
  address: RedisAddress;
  /** Shown by CLIENT LIST. */
  name: string;
  onError: (error: Error) => void;
  /** It is connected, whatever it was before. */
  onWell?: () => void;
}

/** With `replyMapping` the client's types would take the shape of every reply from the options. */
type ServerOptions = Omit<RedisOptions, 'replyMapping'>;

/** Who we are now, at the servers and at the sentinels. */
function currentUsers({ address: { user, sentinelUser, mode } }: ConnectionParts) {
  const sentinel = { sentinelUsername: sentinelUser.username, sentinelPassword: sentinelUser.password };
  const own = { username: user.username, password: user.password };
  const all = mode === 'sentinel' ? { ...own, ...sentinel } : own;
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== null)) as Partial<Record<string, string>>;
}

/**
 * The library has no provider of credentials (https://github.com/redis/ioredis/pull/2039, on hold): it takes them from
 * `options`, which are public, at each connect.
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

/** One server, or the one that the sentinels call primary. */
function serverOptions(parts: ConnectionParts): ServerOptions {
  const { nodes, mode, master, db, tls } = parts.address;
  const users = currentUsers(parts);
  const shared: ServerOptions = { ...sharedOptions(parts), ...users, lazyConnect: true, db };
  if (mode !== 'sentinel') return { ...shared, ...nodes[0] };
  return {
    ...shared,
    sentinels: nodes.map((node) => ({ ...node })),
    name: master,
    // Follows +switch-master: a primary that was cut off, not killed, keeps its connections open.
    failoverDetector: true,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    sentinelRetryStrategy: retryDelayMs,
    sentinelReconnectStrategy: retryDelayMs,
    // A demoted primary that still has us refuses writes: ask the sentinels again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

const closed = new WeakSet<Connection>();
const revivals = new WeakMap<Connection, NodeJS.Timeout>();

const refreshes = new WeakMap<Connection, NodeJS.Timeout>();

/**
 * Tells what keeps a server connection from being used. The library is silent about a server that closes the connection
 * before it has said anything, as one that wants TLS does, and hides what a sentinel answered.
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

/** The same of a cluster, whose nodes fail each for itself. */
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
  // The map of the slots is fetched again and again, from a node that answers.
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
      // It would keep a cluster that lost one primary from all the others.
      enableReadyCheck: false,
      clusterRetryStrategy: retryDelayMs,
      // Names stay names: certificates are issued to them, and a node that moves keeps its name.
      dnsLookup: (host, done) => done(null, host),
      redisOptions: { ...sharedOptions(parts), ...nodeOptions },
      ...options,
    },
  );
  cluster.on('+node', (node: Server) => renewUsers(node, parts));
  reportCluster(cluster, parts);
  refreshes.set(cluster, refreshSlots(cluster));
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
 * A server connection that comes back whatever happens. The library's own watch for a new primary can end one for good:
 * when the sentinels announce it while a reconnect is under way (measured: one client of twelve at the second failover).
 */
function openServer(parts: ConnectionParts, options: ServerOptions): Server {
  const retry = (attempt: number): number => {
    renewUsers(server, parts);
    return retryDelayMs(attempt);
  };
  /** The watch for a new primary keeps the password with which it was made: it is made anew with the connection. */
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
    // A failure ends in another `end`, or in the library's own next try.
    revivals.set(
      server,
      setTimeout(() => void server.connect().catch(parts.onError), retry(1)),
    );
  });
  return server;
}

/**
 * The connection for commands and scripts. Nothing waits for a connection that is away: a command then fails at once
 * (no offline queue). The library sends nothing again after a reconnect (`maxRetriesPerRequest`, and in a cluster
 * `retryDelayOnFailover`): `sendUntilAnswered` does, and tells a script so. A cluster still follows MOVED and ASK, which say
 * that the command did not run. Auto-pipelining stays off: it halves the rate of scripts (measured).
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
 * The connection on which replicas are waited for, which holds up whatever comes behind: to this node of a cluster, or
 * to the primary. It ends with its socket and sends nothing again: on another one WAIT would not know what it is about.
 */
export function connectWaiting(parts: ConnectionParts, node: RedisNode | null, timeoutMs: number): Server {
  const address: RedisAddress = node === null ? parts.address : { ...parts.address, mode: 'standalone', nodes: [node] };
  const server = new Server({
    ...serverOptions({ ...parts, address }),
    commandTimeout: timeoutMs,
    retryStrategy: () => null,
  });
  server.on('error', parts.onError);
  return server;
}

/** The connection that listens. It keeps its subscription over a reconnect; the bus checks that it really hears. */
export const connectSubscriber = (parts: ConnectionParts): Server => openServer(parts, { maxRetriesPerRequest: null });

/** The same in a cluster: it connects to the node that owns the channel, wherever that goes. */
export const connectShardedSubscriber = (parts: ConnectionParts): Cluster =>
  openCluster(parts, { shardedSubscribers: true });
