import { Cluster } from 'ioredis';
import { COMMAND_TIMEOUT_MS, type Connection } from './connections.ts';

/** The pause in a cluster, which stays `ready` while a node is lost. The slot map is read again, and the call made again. */
const CLUSTER_RETRY_MS = 100;

/** The errors of ioredis for a command whose connection is lost before the answer comes. */
const WAS_CUT = /^(Connection is closed\.|Command aborted due to connection close)$/;

/** Returns whether the connection was lost. The command may have run. */
const wasCut = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'MaxRetriesPerRequestError' || WAS_CUT.test(error.message));

/** Returns whether there was no connection to send the command on. */
const wasNotSent = (error: unknown): boolean => error instanceof Error && error.message.includes('enableOfflineQueue');

/** One promise, and so one listener, for each connection, however many calls wait for it. */
const readiness = new WeakMap<Connection, Promise<void>>();

function untilReady(connection: Connection): Promise<void> {
  const known = readiness.get(connection);
  if (known !== undefined) return known;
  const ready = new Promise<void>((resolve) => {
    connection.once('ready', () => {
      readiness.delete(connection);
      resolve();
    });
  });
  readiness.set(connection, ready);
  return ready;
}

function untilWorthTrying(connection: Connection): Promise<void> {
  if (connection.status !== 'ready') return untilReady(connection);
  if (connection instanceof Cluster) connection.refreshSlotsCache(() => undefined);
  return new Promise((resolve) => setTimeout(resolve, CLUSTER_RETRY_MS));
}

/** Rejects with `error` if `promise` does not settle in time. */
async function within<T>(ms: number, promise: Promise<T>, error: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, Math.max(0, ms), error);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes a call, and repeats it on the next connection if its connection is lost before the answer comes, but only until
 * `COMMAND_TIMEOUT_MS` after the first call. The connections for commands resend nothing by themselves (`connectCommands`),
 * because only this function knows that a call is repeated.
 *
 * `send` gets how many ms ago it was first called, or null the first time. The first call may have run. A call that could
 * not be sent the first time fails at once, so that nothing queues up while the store is unreachable.
 */
export async function sendUntilAnswered<T>(
  connection: Connection,
  send: (resentAfterMs: number | null) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  let cut: Error;
  try {
    return await send(null);
  } catch (error) {
    if (!wasCut(error)) throw error;
    cut = error;
  }
  const leftMs = (): number => startedMs + COMMAND_TIMEOUT_MS - performance.now();
  for (;;) {
    await within(leftMs(), untilWorthTrying(connection), cut);
    try {
      return await within(leftMs(), send(performance.now() - startedMs), cut);
    } catch (error) {
      if (wasCut(error)) cut = error;
      else if (!wasNotSent(error)) throw error;
      if (leftMs() <= 0) throw cut;
    }
  }
}
