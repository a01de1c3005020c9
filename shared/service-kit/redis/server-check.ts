import { Cluster, type Redis as Server } from 'ioredis';
import type { Logger } from 'pino';
import type { RedisAddress } from '../config/redis.ts';
import type { Connection } from './connections.ts';

/** What deploy/redis/redis.conf gives subscribers; with less, one that stalls for a moment is cut off and lacks events. */
const PUBSUB_HARD_BYTES = 64 * 1024 * 1024;
const PUBSUB_SOFT_BYTES = 16 * 1024 * 1024;

const MIB = 1024 * 1024;

/** What was changed while all goes on is known after so long. */
const AGAIN_MS = 30_000;

const REFUSED =
  'the password that was read anew is refused: connections that are open go on as they were, and new ones will fail';

/** What the servers say of themselves: of several, the one that is nearest to its end. */
export interface ServersFound {
  /** The store may drop data by itself. */
  evicts: boolean;
  usedBytes: number;
  /** 0: without a limit. */
  maxBytes: number;
  /** It takes no more: at `maxmemory`, or because its disk refuses. */
  isFull: boolean;
}

interface ServerCheckParts {
  /** Which store, for the log. */
  store: 'main' | 'relay' | 'broker';
  connection: Connection;
  address: RedisAddress;
  logger: Logger;
  /** Whether what is written there has to survive a restart of the server. */
  keeps: boolean;
  /** Whether somebody listens to channels there. */
  announces: boolean;
  onChecked?: (found: ServersFound) => void;
  onFailure?: (error: Error) => unknown;
}

const isRefusal = (error: unknown): boolean => error instanceof Error && /^WRONGPASS\b/.test(error.message);

const fieldOf = (info: string, name: string): string | null =>
  new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? null;

const bytesOf = (info: string, name: string): number => Number(fieldOf(info, name) ?? 0);

/** What Redis holds against `maxmemory`: buffers of its own replicas and of the append-only file do not count. */
const countedBytes = (info: string): number =>
  bytesOf(info, 'used_memory') - bytesOf(info, 'mem_not_counted_for_evict');

/** The part that is used; a server without a limit has none. */
const shareOf = ({ usedBytes, maxBytes }: ServersFound): number => (maxBytes === 0 ? 0 : usedBytes / maxBytes);

/** One server of several stands for all: the fullest. */
function worstOf(found: readonly ServersFound[]): ServersFound {
  const [fullest] = [...found].sort((a, b) => shareOf(b) - shareOf(a));
  return {
    evicts: found.some(({ evicts }) => evicts),
    usedBytes: fullest?.usedBytes ?? 0,
    maxBytes: fullest?.maxBytes ?? 0,
    isFull: found.some(({ isFull }) => isFull),
  };
}

/** `pubsub <hard> <soft> <seconds>` among the classes of clients; 0 is no limit. Null: it does not say. */
function pubsubLimits(text: string): { hard: number; soft: number } | null {
  const [, hard, soft] = /\bpubsub (\d+) (\d+) \d+/.exec(text) ?? [];
  return hard === undefined || soft === undefined ? null : { hard: Number(hard), soft: Number(soft) };
}

const isBelow = (limit: number, least: number): boolean => limit !== 0 && limit < least;

/**
 * Whether the servers are set as deploy/redis says. All that a replica's user may do is read INFO; the limits of output
 * buffers are in CONFIG, which shows passwords too, and are asked for only by the default user: a refusal would be noted
 * on the server as an attempt to break in.
 */
export class ServerCheck {
  readonly #parts: ServerCheckParts;
  readonly #logged = new Set<string>();
  #warnings: readonly string[] = [];
  /** With which the servers have let us in. */
  #accepted: string;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ServerCheckParts) {
    this.#parts = parts;
    this.#accepted = this.#user();
  }

  /** Looks now, and again and again until `stop`. */
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

  /** What was found last, in sentences. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Asks every primary, and logs what was not said before. Rejects when one cannot be asked. */
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
   * Shows a changed password to the servers. A mistake in it is found now, and not when a failover makes every connection anew;
   * a refused one takes nothing away from a connection.
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
    // A server that has no CONFIG, as some that are hired, says nothing wrong.
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
