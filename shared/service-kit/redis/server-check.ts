import { Cluster, type Redis as Server } from 'ioredis';
import type { Logger } from 'pino';
import type { RedisAddress } from '../config/redis.ts';
import type { Connection } from './connections.ts';

/** The buffers of subscribers in deploy/redis/redis.conf. With less, one that stalls briefly is cut off and loses events. */
const PUBSUB_HARD_BYTES = 64 * 1024 * 1024;
const PUBSUB_SOFT_BYTES = 16 * 1024 * 1024;

const MIB = 1024 * 1024;

/** The pause between two checks, which find changes while the servers run. */
const AGAIN_MS = 30_000;

const REFUSED =
  'the password that was read anew is refused: connections that are open go on as they were, and new ones will fail';

/** The state that the servers report. The sizes are those of the fullest server. */
export interface ServersFound {
  /** Whether the store may drop data by itself. */
  evicts: boolean;
  usedBytes: number;
  /** The limit; 0 means none. */
  maxBytes: number;
  /** Whether it accepts no more data: it is at `maxmemory`, or cannot write to its disk. */
  isFull: boolean;
}

interface ServerCheckParts {
  /** The name of the store, for the log. */
  store: 'main' | 'relay' | 'broker';
  connection: Connection;
  address: RedisAddress;
  logger: Logger;
  /** Whether its data must survive a restart of the server. */
  keeps: boolean;
  /** Whether there are subscribers. */
  announces: boolean;
  onChecked?: (found: ServersFound) => void;
  onFailure?: (error: Error) => unknown;
}

const isRefusal = (error: unknown): boolean => error instanceof Error && /^WRONGPASS\b/.test(error.message);

const fieldOf = (info: string, name: string): string | null =>
  new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? null;

const bytesOf = (info: string, name: string): number => Number(fieldOf(info, name) ?? 0);

/** Returns the bytes that Redis counts against `maxmemory`, without buffers of its replicas and of the append-only file. */
const countedBytes = (info: string): number =>
  bytesOf(info, 'used_memory') - bytesOf(info, 'mem_not_counted_for_evict');

/** Returns the used share of the limit; 0 for a server without a limit. */
const shareOf = ({ usedBytes, maxBytes }: ServersFound): number => (maxBytes === 0 ? 0 : usedBytes / maxBytes);

/** Combines several servers: the sizes of the fullest, and the flags of any. */
function worstOf(found: readonly ServersFound[]): ServersFound {
  const [fullest] = [...found].sort((a, b) => shareOf(b) - shareOf(a));
  return {
    evicts: found.some(({ evicts }) => evicts),
    usedBytes: fullest?.usedBytes ?? 0,
    maxBytes: fullest?.maxBytes ?? 0,
    isFull: found.some(({ isFull }) => isFull),
  };
}

/** Parses `pubsub <hard> <soft> <seconds>` among the classes of clients; 0 is no limit. Null if it is absent. */
function pubsubLimits(text: string): { hard: number; soft: number } | null {
  const [, hard, soft] = /\bpubsub (\d+) (\d+) \d+/.exec(text) ?? [];
  return hard === undefined || soft === undefined ? null : { hard: Number(hard), soft: Number(soft) };
}

const isBelow = (limit: number, least: number): boolean => limit !== 0 && limit < least;

/**
 * Checks whether the servers are configured as in deploy/redis. A replica's user may read only INFO. The limits of output
 * buffers are in CONFIG, which also shows passwords. Only the default user reads them, because the server would log a
 * refusal as an attempted intrusion.
 */
export class ServerCheck {
  readonly #parts: ServerCheckParts;
  readonly #logged = new Set<string>();
  #warnings: readonly string[] = [];
  /** The user and password that the servers have accepted. */
  #accepted: string;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ServerCheckParts) {
    this.#parts = parts;
    this.#accepted = this.#user();
  }

  /** Checks now, and then regularly until `stop`. */
  watch(): void {
    clearTimeout(this.#timer);
    const { onFailure = () => undefined } = this.#parts;
    void this.run()
      .catch(onFailure)
      .then(() => {
        clearTimeout(this.#timer);
        if (!this.#isStopped) this.#timer = setTimeout(() => this.watch(), AGAIN_MS);
      });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** The warnings of the last check, as sentences. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Checks every primary, and logs new warnings. Rejects if one does not answer. */
  async run(): Promise<void> {
    const { store, connection, logger } = this.#parts;
    const servers = connection instanceof Cluster ? connection.nodes('master') : [connection];
    const found = await Promise.all(servers.map((server) => this.#ask(server)));
    this.#warnings = [...new Set([...(await this.#showUser(servers)), ...found.flatMap(({ says }) => says)])];
    this.#parts.onChecked?.(worstOf(found));
    for (const said of this.#logged) if (!this.#warnings.includes(said)) this.#logged.delete(said);
    for (const warning of this.#warnings) {
      if (this.#logged.has(warning)) continue;
      this.#logged.add(warning);
      logger.warn({ store }, warning);
    }
  }

  #user(): string {
    const { username, password } = this.#parts.address.user;
    return JSON.stringify([username, password]);
  }

  /**
   * Sends a changed password to the servers. So a mistake in it is found now, and not when a failover renews every
   * connection. A refused password does not affect open connections.
   */
  async #showUser(servers: readonly Server[]): Promise<string[]> {
    const { address, store, logger } = this.#parts;
    const { username, password } = address.user;
    const user = JSON.stringify([username, password]);
    if (password === null || user === this.#accepted) return [];
    try {
      await Promise.all(servers.map((server) => server.auth(username ?? 'default', password)));
    } catch (error) {
      if (isRefusal(error)) return [REFUSED];
      throw error;
    }
    this.#accepted = user;
    logger.info({ store }, 'the password was read anew');
    return [];
  }

  async #ask(server: Server): Promise<ServersFound & { says: string[] }> {
    const { keeps, announces } = this.#parts;
    const says: string[] = [];
    const memory = await server.info('memory');
    const policy = fieldOf(memory, 'maxmemory_policy');
    const evicts = policy !== null && policy !== 'noeviction';
    if (evicts) says.push(`maxmemory-policy is ${policy} and must be noeviction: Redis may drop data`);
    const persistence = await server.info('persistence');
    if (keeps && fieldOf(persistence, 'aof_enabled') === '0') {
      says.push('appendonly is no: a restart of Redis loses what came after its last snapshot');
    }
    const usedBytes = countedBytes(memory);
    const maxBytes = bytesOf(memory, 'maxmemory');
    const isMemoryFull = maxBytes > 0 && usedBytes > maxBytes;
    if (isMemoryFull) says.push('maxmemory is reached: Redis takes no more, and what was not sent yet is refused');
    const isDiskFull = fieldOf(persistence, 'aof_last_write_status') === 'err';
    if (isDiskFull)
      says.push('Redis cannot write its append-only file: it refuses every change until there is room on its disk');
    if (announces) says.push(...(await this.#askBuffers(server)));
    return { evicts, usedBytes, maxBytes, isFull: isMemoryFull || isDiskFull, says };
  }

  async #askBuffers(server: Server): Promise<string[]> {
    const { username } = this.#parts.address.user;
    if (username !== null && username !== 'default') return [];
    // A server without CONFIG, as some hosted ones are, is no reason for a warning.
    const answer: unknown = await server.config('GET', 'client-output-buffer-limit').catch(() => []);
    const limits = pubsubLimits(Array.isArray(answer) ? answer.join(' ') : JSON.stringify(answer));
    if (limits === null) return [];
    const { hard, soft } = limits;
    if (!isBelow(hard, PUBSUB_HARD_BYTES) && !isBelow(soft, PUBSUB_SOFT_BYTES)) return [];
    return [
      `client-output-buffer-limit pubsub is ${hard / MIB} MiB and ${soft / MIB} MiB: set 64mb 16mb 60, or Redis cuts off replicas that stall`,
    ];
  }
}
