import type { Redis } from 'ioredis';
import type { Loss } from '../history.ts';
import type { Mode } from '../options.ts';
import type { Proxy } from '../faults/proxy.ts';

/** How one replica reaches the store. */
export interface Door {
  url: string;
  /** Further settings of the replica. */
  env: Record<string, string>;
  /** What stands between, one for each node of the store. */
  proxies: readonly Proxy[];
  /** The one of them behind which the replicas' leases are now. */
  leaseWay(): Promise<Proxy>;
}

/** What a fault of the store did, for the history. */
export interface StoreDamage {
  target: string;
  /** The accounts with keys that were concerned; all when it is not said. */
  accounts?: readonly string[] | undefined;
  /** The replicas' leases were there too; taken for so when it is not said. */
  holdsLeases?: boolean | undefined;
  /** From when on it served again; the end when it is not said. */
  servedFrom?: number | undefined;
  loss: Loss | null;
  movedClock: boolean;
}

export interface HarmOptions {
  holdMs: number;
  variant: number;
  now: () => number;
}

/** A way to harm this kind of store: does it, waits until the cause is gone, and says what may be lost. */
export type Harm = (options: HarmOptions) => Promise<StoreDamage>;

/** Nodes of which one may take another's place. */
export interface Replicated {
  /** A connection to each. */
  looks: readonly Redis[];
  /** A node is taken for dead after this much silence. */
  deadAfterMs: number;
}

/**
 * The store under the replicas: one process, or a whole cluster. What can be done to it differs, so every harm has a
 * name (that of its kind of fault) and those that a store lacks are not in its list.
 */
export interface StoreOptions {
  redisServer: string;
  /** Names of the accounts of the load. */
  accounts: readonly string[];
}

export interface ChaosStore {
  readonly mode: Mode;
  /** One for each replica. */
  openDoor(): Promise<Door>;
  readonly harms: Readonly<Record<string, Harm>>;
  /** Harms of its own by which nothing is lost and no clock is set. */
  readonly harmless: readonly string[];
  /** Null for one process, whose place nobody takes. */
  readonly replicated: Replicated | null;
  /** What is stored of an account's routes and presence, for people. */
  peek(account: string): Promise<string>;
  /** Kinds that this machine cannot do, with the reason. */
  readonly skipped: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}
