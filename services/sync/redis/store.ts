import { Cluster, type Redis } from 'ioredis';
import type { Logger } from 'pino';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { RedisAddress, RedisNode } from '../../../shared/service-kit/config/redis.ts';
import { readWhenScraped } from '../../../shared/service-kit/telemetry/metrics.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { accountNotify } from './account-notify.ts';
import { Announcer } from './bus/announcer.ts';
import { makeAnnouncing } from './bus/announcing.ts';
import { type Confirm, Confirmer } from './confirmer.ts';
import { close, type Connection, connectCommands } from '../../../shared/service-kit/redis/connections.ts';
import { tellServers } from './metrics.ts';
import { makeGate } from './gate.ts';
import { type Keys, makeKeys } from './keys.ts';
import { isStoreFull } from '../../../shared/service-kit/redis/faults.ts';
import { Reachability } from '../../../shared/service-kit/redis/reachability.ts';
import { makeScriptLoader, type ScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import { ServerCheck } from '../../../shared/service-kit/redis/server-check.ts';
import { slotOf } from './slots.ts';
import { openSubscriber, type Subscriber, type SubscriberParts } from './bus/subscriber.ts';

interface StoreParts {
  address: RedisAddress;
  keyPrefix: string;
  /** Number of replicas that must confirm a message; 0 when none is asked. */
  waitReplicas: number;
  /** `APP_RATE_LIMIT_SCALE` */
  rateScale: number;
  logger: Logger;
  metrics: Metrics;
}

/** The reactions of a replica to changes of its store, and what it knows of other replicas. */
interface StoreListener {
  /** Returns true for the channel of a replica that is known to be dead. */
  isDeadChannel: (channel: string) => boolean;
  /** Called when a node was lost, or slots went to another primary, which may lack what the old one had. */
  onTopology: () => void;
  /** Called when a primary of the cluster no longer answers, although the others may. */
  onPartLost: () => void;
  /**
   * Called when commands go over a new connection, maybe to a primary without the routes that were written over the old
   * one.
   */
  onReconnect: () => void;
}

const NOBODY: StoreListener = {
  isDeadChannel: () => false,
  onTopology: () => undefined,
  onPartLost: () => undefined,
  onReconnect: () => undefined,
};

/** The store as the modules see it: keys, scripts, and whether it is up. */
export class Store {
  readonly keys: Keys;
  readonly redis: Redis;
  /** Scripts of modules. Refuses at once while the store is away, so that nothing queues up behind a stall. */
  readonly scripts: ScriptLoader;
  /** Scripts of the lease beat, which finds out whether the store is up. */
  readonly probes: ScriptLoader;
  /** Asks replicas of Redis for a confirmation; null when none is asked. */
  readonly confirm: Confirm | null;
  /**
   * Makes every replica of an account compare the positions of its streams, and the presence. Null if scripts announce
   * in the step in which they take effect, so that a killed replica leaves nothing unannounced.
   */
  readonly compare: ((account: string) => Promise<unknown>) | null;
  /** Why the store cannot be used, for the operator. */
  readonly reachability: Reachability;
  readonly #parts: StoreParts;
  #listener = NOBODY;
  readonly #connection: Connection;
  readonly #announcer: Announcer;
  readonly #confirmer: Confirmer | null;
  readonly #serverCheck: ServerCheck;
  #up = false;
  #seen = false;
  #losses = 0;
  #primaries: (string | undefined)[] = [];

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { address, keyPrefix, waitReplicas, rateScale, logger, metrics } = parts;
    this.keys = makeKeys(keyPrefix);
    readWhenScraped(metrics.redis_up, () => Number(this.#up));
    this.reachability = new Reachability({ store: 'main', address, logger });
    this.#connection = connectCommands({ address, name: 'baton:commands', ...this.#watchers('commands') });
    // Both kinds have the commands of `Redis` with the same meaning, but the compiler cannot handle their many
    // overloads.
    this.redis = this.#connection as Redis;
    this.#watch(this.#connection);
    const connection = this.#connection;
    this.#serverCheck = new ServerCheck({
      ...{ store: 'main', connection, address, logger, keeps: true, announces: true },
      // A store with other settings loses data. That gives warnings and a metric, not a refusal.
      onChecked: (found) => tellServers(metrics, 'main', found),
      onFailure: (error) => this.#logError('commands', error),
    });
    const partOf = (key: string) => this.#primaryOf(key);
    const gate = makeGate({ partOf, isUp: () => this.#isReachable(), onClosed: () => this.#listener.onPartLost() });
    const nodeOf = (key: string) => this.#nodeOf(key);
    this.#confirmer =
      waitReplicas > 0 ? new Confirmer({ address, replicas: waitReplicas, nodeOf, logger, metrics }) : null;
    this.confirm = this.#confirmer?.confirm ?? null;
    const shared = {
      connection: this.#connection,
      announcing: makeAnnouncing({
        announcer: () => this.#announcer,
        publishInScript: address.mode !== 'cluster',
        losses: this.losses,
        metrics,
      }),
      rateScale,
      metrics,
    };
    this.scripts = makeScriptLoader({ ...shared, gate });
    this.probes = makeScriptLoader({ ...shared, gate: makeGate({ partOf, isUp: () => true }) });
    const notifyScript = this.scripts.define(accountNotify);
    const notify = (account: string) => notifyScript(this.keys.inAccount(account), {});
    this.compare = address.mode === 'cluster' ? notify : null;
    this.#announcer = new Announcer({
      publish: this.publish,
      notify,
      isDeadChannel: (channel) => this.#listener.isDeadChannel(channel),
      metrics,
    });
  }

  /** Whether the store is worth asking: in a cluster, as long as any primary is connected. */
  get isUp(): boolean {
    return this.#up;
  }

  /** Whether the store was reached at least once: only then can a replica be ready. */
  get wasSeen(): boolean {
    return this.#seen;
  }

  /** Why the store cannot be used; null while nothing fails. */
  get reason(): string | null {
    return this.reachability.reason;
  }

  /** Settings of its servers that differ from what they should be. */
  get warnings(): readonly string[] {
    return this.#serverCheck.warnings;
  }

  /** Records whether the lease beat was answered just now, and if not, why. Returns true when that changed `isUp`. */
  note(answered: boolean, error?: unknown): boolean {
    // A full store still answers, and reads go on.
    const up = answered || isStoreFull(error) || (this.#up && this.#hasPrimary());
    const changed = this.#up !== up;
    this.#up = up;
    this.#seen ||= up;
    if (answered) this.reachability.commandWorked();
    else this.reachability.commandFailed(error);
    if (changed && up) this.#parts.logger.info('store is up');
    if (changed && !up) this.#parts.logger.warn({ err: error }, 'store is away');
    if (changed && up) this.#serverCheck.watch();
    return changed;
  }

  /** Returns how often a connection for commands was lost so far. Calls that were under way then are made again. */
  losses = (): number => this.#losses;

  /** Publishes a payload; resolves to the number of subscribers that heard it on the node that was asked. */
  publish = async (channel: string, payload: string): Promise<number> =>
    this.#connection instanceof Cluster
      ? Number(await this.#connection.spublish(channel, payload))
      : await this.#connection.publish(channel, payload);

  /** Publishes again what nobody heard. */
  repeat: Announcer['repeat'] = (...repeated) => this.#announcer.repeat(...repeated);

  subscriber = (parts: Pick<SubscriberParts, 'channel' | 'onMessage' | 'onLoss'>): Subscriber =>
    openSubscriber({
      ...parts,
      address: this.#parts.address,
      name: 'baton:subscriber',
      ...this.#watchers('subscriber'),
    });

  /** Sets the listener for changes. Called before the store connects. */
  listenTo(listener: StoreListener): void {
    this.#listener = listener;
  }

  /** Connects. Resolves when that has worked, or the first try failed: the client goes on trying by itself. */
  connect(): Promise<void> {
    return this.#connection.connect().catch(() => undefined);
  }

  stop(): void {
    this.#serverCheck.stop();
    this.#announcer.stop();
    this.#confirmer?.stop();
    close(this.#connection);
  }

  #watch(connection: Connection): void {
    const { metrics } = this.#parts;
    if (!(connection instanceof Cluster)) {
      let connects = 0;
      connection.on('ready', () => {
        if (connects++ === 0) return;
        this.#losses += 1;
        metrics.redis_reconnects_total.inc();
        this.#listener.onReconnect();
      });
      return;
    }
    connection.on('-node', () => {
      this.#losses += 1;
      metrics.redis_reconnects_total.inc();
      // The node may come back in its role but without its data, and the subscriber may not have noticed.
      this.#listener.onTopology();
    });
    connection.on('refresh', () => {
      const primaries = connection.slots.map((nodes) => nodes[0]);
      const isNews = this.#primaries.length > 0 && primaries.some((node, slot) => node !== this.#primaries[slot]);
      this.#primaries = primaries;
      if (isNews) this.#listener.onTopology();
    });
  }

  /**
   * Returns whether to send commands. Standalone and Sentinel fail fast; in a cluster each primary shows by its answers
   * whether it is up.
   */
  #isReachable(): boolean {
    return this.#connection instanceof Cluster ? this.#seen : this.#up;
  }

  #hasPrimary(): boolean {
    return this.#connection instanceof Cluster && this.#connection.nodes('master').some((n) => n.status === 'ready');
  }

  #primaryOf(key: string): string | null {
    return this.#connection instanceof Cluster ? (this.#connection.slots[slotOf(key)]?.[0] ?? 'nobody') : null;
  }

  #nodeOf(key: string): RedisNode | null {
    const primary = this.#primaryOf(key);
    if (primary === null) return null;
    const [, host, port] = /^(.*):(\d+)$/.exec(primary) ?? [];
    if (host === undefined) throw new BatonError('store_unavailable');
    return { host, port: Number(port) };
  }

  #watchers(connection: string) {
    return {
      onError: (error: Error) => {
        this.#logError(connection, error);
        this.reachability.failed(connection, error);
      },
      onWell: () => this.reachability.worked(connection),
    };
  }

  #logError(connection: string, error: Error): void {
    this.#parts.logger.debug({ err: error, connection }, 'redis connection error');
  }
}
