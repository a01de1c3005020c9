import type { TextCrypto } from '../primitives/text-crypto.ts';
import { sealedError } from '../sealed-error.ts';
import type { NamedRings } from '../ring/named-rings.ts';
import type { GuestPin } from '../ring/newest-guests.ts';
import { type DeviceKeys, makeDeviceKeys, tryDeviceKeys } from './device-keys.ts';

/** The account that the device is linked to. */
export interface KeyedAccount {
  readonly service: string;
  readonly user_id: string;
  readonly device_id: string;
}

/** The data that a device keeps besides its session. */
export interface KeyRecord {
  readonly keys: DeviceKeys;
  /** Null until the device is linked. */
  readonly account: KeyedAccount | null;
  /** The newest rings as they were sent, oldest first; the last one is the pin. */
  readonly rings: readonly string[];
  /**
   * The highest ring number that anything genuine named, including those in `named`. A record of an earlier version has no
   * `named`: a higher number than those was said by a member of the ring in force.
   */
  readonly seen: number;
  /**
   * The rings that others named and that this device does not have, by the signing key. It is left out if there are none.
   */
  readonly named?: NamedRings | undefined;
  /** The members that the service reported as removed or logged out. A record of an earlier version has none. */
  readonly removed?: readonly string[] | undefined;
  /** The other devices that it reported so. */
  readonly removedGuests?: readonly string[] | undefined;
  /** The newest list of guests. A record of an earlier version, or without guests, has none. */
  readonly guestPin?: GuestPin | undefined;
  /** Since when the service does not list a member, by its id, in Unix milliseconds. */
  readonly away?: Readonly<Record<string, number>> | undefined;
}

/** Where a device keeps its keys between two runs. An application can provide its own. */
export interface KeyStore {
  /** True: `save` has to read the bytes of the keys. False: nothing can ever copy them. */
  readonly extractable: boolean;
  /** How texts are signed and encrypted with these keys. Default: by WebCrypto. */
  readonly textCrypto?: TextCrypto | undefined;
  /** Returns the last saved record; null before the first, or after `clear`. */
  load(): Promise<KeyRecord | null>;
  /** Resolves when the record is safely stored. A crash leaves the earlier record, or this one. */
  save(record: KeyRecord): Promise<void>;
  /** Removes the keys, and with them access to everything that only they can open. */
  clear(): Promise<void>;
  /** Runs `work` while no other process or tab that shares the store runs its own. */
  lock<T>(work: () => Promise<T>): Promise<T>;
}

/** Keeps the keys until the program ends: for `once` sessions and private windows. */
export function memoryKeys(): KeyStore {
  let kept: KeyRecord | null = null;
  let last: Promise<unknown> = Promise.resolve();
  return {
    extractable: false,
    load: () => Promise.resolve(kept),
    save(record) {
      kept = record;
      return Promise.resolve();
    },
    clear() {
      kept = null;
      return Promise.resolve();
    },
    lock(work) {
      const running = last.then(work);
      last = running.catch(() => {});
      return running;
    },
  };
}

async function loadUsable(store: KeyStore): Promise<KeyRecord | null> {
  const record = await store.load();
  if (record !== null) await tryDeviceKeys(record.keys);
  return record;
}

/**
 * Returns the keys of this device, and makes them if there are none. It reads them back from the store and uses them once
 * first, because a browser may take keys and return none. Throws `keys_unusable` then.
 */
export function keepDeviceKeys(store: KeyStore): Promise<KeyRecord> {
  return store.lock(async () => {
    const found = await loadUsable(store);
    if (found !== null) return found;
    const keys = await makeDeviceKeys({ extractable: store.extractable });
    try {
      await store.save({ keys, account: null, rings: [], seen: 0 });
    } catch (cause) {
      throw sealedError('keys_unusable', cause);
    }
    const made = await loadUsable(store);
    if (made === null) throw sealedError('keys_unusable');
    return made;
  });
}
