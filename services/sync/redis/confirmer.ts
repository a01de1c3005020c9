import type { Logger } from 'pino';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { RedisAddress, RedisNode } from '../../../shared/service-kit/config/redis.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { close, connectWaiting } from '../../../shared/service-kit/redis/connections.ts';
import { isAnswer, storeFault } from '../../../shared/service-kit/redis/faults.ts';

/**
 * How long to wait for replicas of Redis. A healthy one answers within its round trip. The answer to a client has to
 * come within 3 s, even when it waited until a WAIT of other calls was over.
 */
const WAIT_MS = 1_000;

/** How long a command may go unanswered before the connection is given up. */
const COMMAND_TIMEOUT_MS = WAIT_MS + 500;

/** Most calls that wait for the replicas of one primary; the next is refused. */
const MAX_WAITING = 5_000;

/** The answer of a cluster node when another node has the key, or is about to. */
const IS_ELSEWHERE = /^(MOVED|ASK) /;

/**
 * Resolves to whether enough replicas have the key and everything that was written with it or before it; `seconds` is
 * its lifetime, which begins again. Throws `store_unavailable` when that is unknown: the primary does not answer, or
 * does not have the key (any more). `enough`: number of replicas that must have it, if not the configured one.
 */
export type Confirm = (key: string, seconds: number, enough?: number) => Promise<boolean>;

interface Asking {
  key: string;
  seconds: number;
  enough: number;
  resolve: (confirmed: boolean) => void;
  reject: (error: Error) => void;
}

const mostOf = (group: readonly Asking[]): number => Math.max(...group.map(({ enough }) => enough));

interface Line {
  ask: Confirm;
  close: () => void;
}

interface ConfirmerParts {
  address: RedisAddress;
  /** Number of replicas that must have it. */
  replicas: number;
  /** Returns the primary of a cluster that has this key; null when there is only one. */
  nodeOf: (key: string) => RedisNode | null;
  logger: Logger;
  metrics: Metrics;
}

/**
 * Asks replicas whether they have what was accepted, on one connection for each primary, opened for the first call.
 * WAIT covers only the writes of its own connection, and only as long as that connection goes to the same primary. So
 * the key is written once more on it, which fails if the primary does not have the key. Then WAIT covers the key,
 * whatever connection wrote it, and whatever failed over or moved meanwhile.
 */
export class Confirmer {
  readonly #parts: ConfirmerParts;
  readonly #lines = new Map<string, Line>();
  #isStopped = false;

  constructor(parts: ConfirmerParts) {
    this.#parts = parts;
  }

  confirm: Confirm = (key, seconds, enough = this.#parts.replicas) => {
    // Nobody would close the connection that is opened for a late call.
    if (this.#isStopped) throw new BatonError('store_unavailable');
    const node = this.#parts.nodeOf(key);
    const name = node === null ? 'the primary' : `${node.host}:${node.port}`;
    const line = this.#lines.get(name) ?? this.#open(name, node);
    return line.ask(key, seconds, enough);
  };

  stop(): void {
    this.#isStopped = true;
    for (const line of [...this.#lines.values()]) line.close();
  }

  #open(name: string, node: RedisNode | null): Line {
    const { address, replicas, logger, metrics } = this.#parts;
    const log = logger.child({ connection: 'confirmer', primary: name });
    const onError = (error: Error) => log.debug({ err: error }, 'redis connection error');
    const server = connectWaiting({ address, name: 'baton:confirmer', onError }, node, COMMAND_TIMEOUT_MS);
    const forget = () => {
      if (this.#lines.get(name) === line) this.#lines.delete(name);
    };
    server.on('end', forget);

    const queue: Asking[] = [];
    let isAsking = false;
    let isEnough = true;

    function note(count: number): boolean {
      const isNow = count >= replicas;
      if (isEnough && !isNow) log.warn({ replicas: count, wanted: replicas }, 'too few replicas confirm in time');
      if (!isEnough && isNow) log.info('enough replicas confirm again');
      isEnough = isNow;
      return isNow;
    }

    /**
     * Sends one WAIT for a group of calls. The commands go out together, and commands behind them wait until WAIT is
     * over.
     */
    async function askFor(group: Asking[]): Promise<void> {
      const startedMs = performance.now();
      const written = group.map(({ key, seconds }) => server.expire(key, seconds));
      const [waited, ...there] = await Promise.allSettled([server.wait(mostOf(group), WAIT_MS), ...written]);
      metrics.redis_command_duration_seconds.observe({ module: 'wait' }, (performance.now() - startedMs) / 1000);
      for (const [i, { enough, resolve, reject }] of group.entries()) {
        const answer = (isConfirmed: boolean) => {
          if (!isConfirmed) metrics.messages_unconfirmed_total.inc();
          resolve(isConfirmed);
        };
        const found = there[i] as PromiseSettledResult<number>;
        if (found.status === 'rejected' && IS_ELSEWHERE.test(String(found.reason?.message))) answer(false);
        else if (found.status === 'rejected') reject(storeFault(found.reason));
        else if (waited.status === 'rejected') reject(storeFault(waited.reason));
        else if (found.value === 0) reject(storeFault(new Error('this primary has not got what another one accepted')));
        else answer(enough === replicas ? note(waited.value) : waited.value >= enough);
      }
      if (waited.status === 'rejected' && !isAnswer(waited.reason)) line.close();
    }

    async function askForAll(): Promise<void> {
      isAsking = true;
      while (queue.length > 0) await askFor(queue.splice(0));
      isAsking = false;
    }

    const line: Line = {
      ask: (key, seconds, enough = replicas) =>
        new Promise((resolve, reject) => {
          if (queue.length >= MAX_WAITING) return reject(new BatonError('store_unavailable'));
          queue.push({ key, seconds, enough, resolve, reject });
          if (!isAsking) void askForAll();
        }),
      close() {
        forget();
        close(server);
      },
    };
    this.#lines.set(name, line);
    return line;
  }
}
