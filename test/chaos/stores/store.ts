import type { Redis } from 'ioredis';
import type { Loss } from '../history.ts';
import type { Mode } from '../options.ts';
import type { Proxy } from '../faults/proxy.ts';

/** How one replica reaches the store. */
export interface Door {
  url: string;
  /** Further settings of the replica. */
  env: Record<string, string>;
  /** The proxies in between, one for each node of the store. */
  proxies: readonly Proxy[];
  /** Resolves to the proxy behind which the replicas' leases are now. */
  leaseWay(): Promise<Proxy>;
}

/** What a fault of the store did, for the history. */
export interface StoreDamage {
  target: string;
  /** The accounts whose keys were concerned; undefined: all. */
  accounts?: readonly string[] | undefined;
  /** The replicas' leases were there too; undefined counts as true. */
  holdsLeases?: boolean | undefined;
  /** When the store served again; undefined: the fault's end. */
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

/** Nodes that may take each other's place. */
export interface Replicated {
  /** A connection to each. */
  looks: readonly Redis[];
  /** A node is taken for dead after this much silence. */
  deadAfterMs: number;
}

/**
 * The store under the replicas: one process, or a whole cluster. The possible harms differ, so every harm has a name
 * (that of its kind of fault), and the list of a store has only its own.
 */
export interface StoreOptions {
  redisServer: string;
  /** Names of the accounts of the load. */
  accounts: readonly string[];
}

export interface ChaosStore {
  readonly mode: Mode;
  /** Opens one door for each replica. */
  openDoor(): Promise<Door>;
  readonly harms: Readonly<Record<string, Harm>>;
  /** Its own harms that lose nothing and set no clock. */
  readonly harmless: readonly string[];
  /** Null for one process, which no other replaces. */
  readonly replicated: Replicated | null;
  /** Returns what is stored of an account's routes and presence, for people. */
  peek(account: string): Promise<string>;
  /** Kinds that this machine cannot do, with the reason. */
  readonly skipped: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}
