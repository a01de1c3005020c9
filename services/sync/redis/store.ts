import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.ts';
import { connectCommands, connectSubscriber, type Redis } from './connections.ts';
import { type Keys, makeKeys } from './keys.ts';
import { makeScriptLoader, type ScriptLoader } from './scripts.ts';

interface StoreParts {
  url: string;
  keyPrefix: string;
  logger: Logger;
  metrics: Metrics;
}

/** The store as the rooms see it: keys, scripts, and whether it is there. */
export class Store {
  readonly keys: Keys;
  readonly redis: Redis;
  /** For rooms: refuses at once while the store is away, so that nothing queues up behind a stall. */
  readonly scripts: ScriptLoader;
  /** For the lease beat, which finds out whether the store is there. */
  readonly probes: ScriptLoader;
  readonly #parts: StoreParts;
  #up = false;
  #seen = false;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { url, keyPrefix, metrics } = parts;
    this.keys = makeKeys(keyPrefix);
    this.redis = connectCommands({
      url,
      name: 'baton:commands',
      onError: (error) => this.#logError('commands', error),
    });
    let connects = 0;
    this.redis.on('ready', () => {
      if (connects++ > 0) metrics.redis_reconnects_total.inc();
    });
    const shared = { redis: this.redis, announce: null, metrics };
    this.scripts = makeScriptLoader({ ...shared, isUp: () => this.#up });
    this.probes = makeScriptLoader({ ...shared, isUp: () => true });
  }

  get isUp(): boolean {
    return this.#up;
  }

  /** It was reached at least once: only then can a replica say that it is ready. */
  get wasSeen(): boolean {
    return this.#seen;
  }

  /** Records whether it answered just now, and if not, why; true when that is news. */
  note(up: boolean, error?: unknown): boolean {
    const changed = this.#up !== up;
    this.#up = up;
    this.#seen ||= up;
    if (changed && up) this.#parts.logger.info('store is up');
    if (changed && !up) this.#parts.logger.warn({ err: error }, 'store is away');
    if (changed && up) void this.#checkEviction();
    return changed;
  }

  subscriber = (): Redis =>
    connectSubscriber({
      url: this.#parts.url,
      name: 'baton:subscriber',
      onError: (error) => this.#logError('subscriber', error),
    });

  connect(): void {
    // The client goes on trying by itself; the lease beat tells when it has succeeded.
    this.redis.connect().catch(() => undefined);
  }

  stop(): void {
    this.redis.disconnect();
  }

  /** An evicting store loses mailboxes and leases silently: a warning and a metric, not a refusal. */
  async #checkEviction(): Promise<void> {
    const { logger, metrics } = this.#parts;
    try {
      const policy = /^maxmemory_policy:(\S+)/m.exec(await this.redis.info('memory'))?.[1];
      metrics.redis_evicts.set(Number(policy !== 'noeviction'));
      if (policy !== 'noeviction') logger.warn({ policy }, 'maxmemory-policy must be noeviction: Redis may drop data');
    } catch (error) {
      this.#logError('commands', error as Error);
    }
  }

  #logError(connection: string, error: Error): void {
    this.#parts.logger.debug({ err: error, connection }, 'redis connection error');
  }
}
