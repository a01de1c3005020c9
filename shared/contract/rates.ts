import { LIMITS } from './limits.ts';

interface Rate {
  by: 'address' | 'device' | 'account';
  /**
   * `store`: on all replicas together, in a script that the request needs anyway (for addresses, in a script of their own).
   * `replica`: in the memory of the replica that gets the request, before it calls the store.
   */
  counted: 'store' | 'replica';
  limit: number;
  windowSeconds: number;
  /** The limit of all devices of the account together. Callers without a device have only this limit. */
  accountLimit?: number;
}

const inStore = <const R extends Omit<Rate, 'counted' | 'accountLimit'>>(rate: R) =>
  ({ ...rate, counted: 'store' }) as const;

/** Counts in the store, by the device and by its account. */
const inStoreByBoth = (limit: number) => ({
  ...inStore({ by: 'device', limit, windowSeconds: 60 }),
  accountLimit: LIMITS.accountRates * limit,
});

const onReplica = (limit: number, accountLimit: number) =>
  ({ by: 'device', counted: 'replica', limit, windowSeconds: 60, accountLimit }) as const;

/**
 * The rate groups. A route with an identity has one, besides the cost of its identity. `address` groups count a client
 * address on all replicas together (IPv6 by /56). `device` groups of the store count per device or, without a device, per
 * account. Groups of the replica bound what one account can cost one process; no honest client comes near them.
 */
export const RATES = {
  auth: inStore({ by: 'address', limit: 60, windowSeconds: 60 }),
  qr_start: inStore({ by: 'address', limit: 10, windowSeconds: 60 }),
  qr_invite: inStore({ by: 'device', limit: 10, windowSeconds: 3_600 }),
  device_session: inStore({ by: 'address', limit: 10, windowSeconds: 60 }),
  /**
   * Session cookies that the auth broker refused, with identity `broker`, on every route. An office that lost all of its
   * sessions sends each of them once.
   */
  unknown_credential: { by: 'address', counted: 'replica', limit: 600, windowSeconds: 60 },
  message: inStoreByBoth(120),
  clipboard: inStoreByBoth(60),
  transfer: inStoreByBoth(60),
  signal: inStoreByBoth(600),
  push: inStore({ by: 'device', limit: 20, windowSeconds: 3_600 }),
  push_test: inStore({ by: 'device', limit: 10, windowSeconds: 60 }),
  /** In the store, because every rename is an event and a presence for all streams, and replicas must not multiply that. */
  rename: inStore({ by: 'account', limit: 30, windowSeconds: 60 }),
  /**
   * In the store, like renames, because every ring is an event for all streams. By device too: one device without keys must
   * not keep the members from objecting to the removal that it announced.
   */
  keys: inStoreByBoth(60),

  /** 64 devices that reconnect three times each after the loss of a replica make 192 requests. */
  stream: onReplica(240, 1_200),
  read: onReplica(1_200, 12_000),
  ack: onReplica(600, 6_000),
  /** A page is up to 512 KB. */
  keys_read: onReplica(240, 2_400),
  clipboard_clear: onReplica(60, 600),
  removal: onReplica(60, 120),
  erase: onReplica(10, 10),
  link: onReplica(60, 120),
  transfer_act: onReplica(600, 6_000),
  /** Each side of each transfer may report four phases a second. */
  transfer_phase: onReplica(2_400, 12_000),
  /** Pieces of 64 KiB at 6 MB/s, of 8 MiB at 800 MB/s. */
  relay: onReplica(6_000, 24_000),
} as const satisfies Record<string, Rate>;

export type RateGroup = keyof typeof RATES;
