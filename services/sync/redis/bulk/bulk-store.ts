import { createHash } from 'node:crypto';
import { Cluster, type Redis as Server } from 'ioredis';
import type { Logger } from 'pino';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { RedisAddress, RedisNode } from '../../../../shared/service-kit/config/redis.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import {
  type BoundScript,
  bindScript,
  type Settings,
} from '../../../../shared/service-kit/redis/scripts/bound-script.ts';
import { BulkLink } from './bulk-link.ts';
import { close, type Connection, connectCommands } from '../../../../shared/service-kit/redis/connections.ts';
import { isAnswer, storeFault } from '../../../../shared/service-kit/redis/faults.ts';
import { makeGate } from '../gate.ts';
import { Reachability } from '../../../../shared/service-kit/redis/reachability.ts';
import type { ScriptDeclaration } from '../../../../shared/service-kit/redis/scripts/script.ts';
import { makeScriptLoader, type ScriptLoader } from '../../../../shared/service-kit/redis/scripts/scripts.ts';
import { ServerCheck, type ServersFound } from '../../../../shared/service-kit/redis/server-check.ts';
import { tellServers } from '../metrics.ts';
import { slotOf } from '../slots.ts';

/** Most idle connections that are kept for later requests. */
const MAX_IDLE = 16;

/** Most connections in use at a time: each costs up to half a MiB here, and is a client of the store. */
const MAX_LENT = 384;

/** How old a reading of the memory in use may be. */
const MEMORY_MS = 1_000;

/**
 * How long until a right that the store's user lacks is probed again, because it can be granted without a new
 * connection.
 */
const PROBE_AGAIN_MS = 5_000;

/** A script that is sent over bulk connections: by its text the first time on each, then by its digest. */
export interface LinkScript<K extends string, A, R> extends BoundScript<K, A, R> {
  readonly sha: string;
  /** Connections whose server has the script. */
  readonly knownOn: WeakSet<BulkLink>;
}

interface BulkStoreParts {
  address: RedisAddress;
  /** Whether this is another store than the common one. */
  isOwn?: boolean;
  /** Records why this store cannot be used. */
  reachability?: Reachability;
  /** A key of the relay that is never written. A read of it finds out what this user may do here. */
  probeKey?: string;
  logger: Logger;
  metrics: Metrics;
}

/**
 * The store of the relay's bytes, which may be the common Redis or a separate one. It has connections for bytes, and one of
 * the client library for the small scripts, so that no event ever waits behind either.
 */
export class BulkStore {
  readonly scripts: ScriptLoader;
  readonly #address: RedisAddress;
  readonly #reachability: Reachability;
  readonly #connection: Connection;
  readonly #idle: BulkLink[] = [];
  #lent = 0;
  #isStopped = false;
  #probeTimer: NodeJS.Timeout | undefined;
  /** Null when another part checks the same servers. */
  readonly #serverCheck: ServerCheck | null;
  readonly #memory = new Map<string, { atMs: number; percent: Promise<number> }>();

  constructor({ address, probeKey, logger, metrics, ...parts }: BulkStoreParts) {
    this.#address = address;
    const reachability = parts.reachability ?? new Reachability({ store: 'relay', address, logger });
    this.#reachability = reachability;
    const onError = (error: Error) => {
      logger.debug({ err: error, connection: 'relay' }, 'redis connection error');
      reachability.failed('relay', error);
    };
    const onWell = () => {
      reachability.worked('relay');
      this.#serverCheck?.watch();
      if (probeKey !== undefined) void this.#probe(probeKey);
    };
    const connection = connectCommands({ address, name: 'baton:relay', onError, onWell });
    this.#connection = connection;
    // The relay's bytes wait to be fetched, and may be lost with the server.
    const asked = { store: 'relay' as const, connection, address, logger, keeps: false, announces: false };
    const onChecked = (found: ServersFound) => {
      tellServers(metrics, 'relay', found);
      reachability.worked('relay servers');
    };
    // A lost connection reports itself.
    const onFailure = (error: Error) => isAnswer(error) && reachability.failed('relay servers', error);
    this.#serverCheck = parts.isOwn === true ? new ServerCheck({ ...asked, onChecked, onFailure }) : null;
    this.scripts = makeScriptLoader({
      connection: this.#connection,
      gate: makeGate({ partOf: (key) => this.#primaryOf(key), isUp: () => true }),
      // Scripts of the relay announce nothing themselves.
      announcing: null,
      metrics,
    });
  }

  /** Whether the store can be asked now. */
  get isUp(): boolean {
    return this.#connection.status === 'ready';
  }

  /** Why the store cannot be used; null while nothing fails. */
  get reason(): string | null {
    return this.#reachability.reason;
  }

  /** Settings of its servers that differ from what they should be. Warnings of the common store are not repeated. */
  get warnings(): readonly string[] {
    return this.#serverCheck?.warnings ?? [];
  }

  connect(): void {
    this.#connection.connect().catch(() => undefined);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#probeTimer);
    this.#serverCheck?.stop();
    for (const link of this.#idle.splice(0)) link.close();
    close(this.#connection);
  }

  /** Makes a declared script ready for use over bulk connections. */
  linkScript<K extends string, A, R, S extends string>(
    declaration: ScriptDeclaration<K, A, R, S>,
    ...settings: Settings<S>
  ): LinkScript<K, A, R> {
    const bound = bindScript(declaration, false, settings);
    return { ...bound, sha: createHash('sha1').update(bound.text).digest('hex'), knownOn: new WeakSet() };
  }

  /**
   * Takes a connection to the node of this key, for one user until `giveBack`. Throws `store_unavailable`,
   * `relay_busy`.
   */
  async take(key: string): Promise<BulkLink> {
    if (this.#lent >= MAX_LENT) throw new BatonError('relay_busy', undefined, { retryAfterSeconds: 5 });
    this.#lent += 1;
    try {
      const node = this.#nodeOf(key);
      const name = `${node.host}:${node.port}`;
      for (let i = this.#idle.length - 1; i >= 0; i--) {
        const link = this.#idle[i] as BulkLink;
        if (link.isOpen && link.node !== name) continue;
        this.#idle.splice(i, 1);
        if (link.isIdle) return link;
      }
      return await BulkLink.open(this.#address, node);
    } catch (error) {
      this.#lent -= 1;
      throw storeFault(error);
    }
  }

  /** Gives a connection back. Closes it when it is not idle, because its replies would go to the next user. */
  giveBack(link: BulkLink): void {
    this.#lent -= 1;
    link.rest();
    if (link.isIdle && !this.#isStopped && this.#idle.length < MAX_IDLE) this.#idle.push(link);
    else link.close();
  }

  /** Returns the memory in use on the node of this key, in percent of its limit; 0 without a limit. */
  memoryPercent(key: string): Promise<number> {
    const server = this.#serverOf(key);
    const name = server === null ? '' : `${server.options.host}:${server.options.port}`;
    const known = this.#memory.get(name);
    if (known !== undefined && performance.now() - known.atMs < MEMORY_MS) return known.percent;
    const percent = readMemory(server);
    this.#memory.set(name, { atMs: performance.now(), percent });
    percent.catch(() => this.#memory.delete(name));
    return percent;
  }

  /** Finds out early whether the user lacks rights, which a request may need only hours later. Never rejects. */
  async #probe(key: string): Promise<void> {
    clearTimeout(this.#probeTimer);
    if (this.#isStopped) return;
    try {
      await this.#connection.eval("return redis.call('EXISTS', KEYS[1])", 1, key);
      this.#reachability.worked('relay commands');
    } catch (error) {
      // A lost connection reports itself, and is probed when it is back.
      if (!isAnswer(error)) return;
      this.#reachability.failed('relay commands', error);
      if (!this.#isStopped) this.#probeTimer = setTimeout(() => void this.#probe(key), PROBE_AGAIN_MS);
    }
  }

  #serverOf(key: string): Server | null {
    if (!(this.#connection instanceof Cluster)) return this.#connection;
    const name = this.#primaryOf(key);
    const nodes = this.#connection.nodes('master');
    return nodes.find(({ options: { host, port } }) => `${host}:${port}` === name) ?? null;
  }

  #primaryOf(key: string): string | null {
    return this.#connection instanceof Cluster ? (this.#connection.slots[slotOf(key)]?.[0] ?? 'nobody') : null;
  }

  #nodeOf(key: string): RedisNode {
    if (this.#connection instanceof Cluster) {
      const [, host, port] = /^(.*):(\d+)$/.exec(this.#primaryOf(key) ?? '') ?? [];
      if (host === undefined) throw new Error('no node of the cluster has this key');
      return { host, port: Number(port) };
    }
    if (this.#address.mode === 'standalone') return this.#address.nodes[0] as RedisNode;
    // The library is connected to the primary that the sentinels name.
    const { remoteAddress: host, remotePort: port } = this.#connection.stream ?? {};
    if (host === undefined || port === undefined) throw new Error('the primary is not known');
    return { host, port };
  }
}

async function readMemory(server: Server | null): Promise<number> {
  if (server === null) return 0;
  const info = await server.info('memory').catch((error: unknown) => {
    throw storeFault(error);
  });
  const of = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const limit = of('maxmemory');
  return limit === 0 ? 0 : (100 * of('used_memory')) / limit;
}
