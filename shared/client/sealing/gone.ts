import { disagreeing, type Keyring } from '../sealed/keyring.ts';
import type { KeyStore } from '../sealed/keys/key-store.ts';
import { WORDS_KIND } from '../sealed/ring/words-member.ts';
import type { Device } from '../wire.ts';

type Listed = readonly Pick<Device, 'device_id'>[];

/** How long a member keeps its place while its session is over: an expired session cannot fetch anything meanwhile. */
const AWAY_MS = 90 * 86_400_000;

/** Returns the members of the ring that are no longer devices of the account: signed out, removed, or expired. */
export function goneMembers({ ring }: Keyring, devices: readonly Pick<Device, 'device_id'>[]): string[] {
  const ids = new Set(devices.map(({ device_id }) => device_id));
  const members = ring.body.members.filter(({ kind }) => kind !== WORDS_KIND);
  return members.map(({ device_id }) => device_id).filter((id) => !ids.has(id));
}

/**
 * Notes since when members are not listed. Returns those to take out of the ring: reported as removed, or not listed for 90
 * days. A list by itself evicts nobody sooner, because a laptop would lose its key in a holiday. While a member names
 * another ring, no member is removed because of the service's list. Otherwise the service could remove the member that
 * knows the hidden rings.
 *
 * `clocks`: this moment by the service's clock, and by this machine's. The 90 days have to pass by both of them. Otherwise a
 * service could take a member out at once by a wrong time, and so could a machine whose clock was set.
 */
export function noteListed(
  store: KeyStore,
  keyring: Keyring,
  devices: Listed,
  clocks: readonly [number, number],
): Promise<string[]> {
  const [least, most] = [Math.min(...clocks), Math.max(...clocks)];
  const gone = goneMembers(keyring, devices);
  return store.lock(async () => {
    const record = await store.load();
    const before = new Map(Object.entries(record?.away ?? {}));
    const since = new Map(gone.map((id) => [id, Math.min(most, before.get(id) ?? most)]));
    const isSame = since.size === before.size && gone.every((id) => before.get(id) === since.get(id));
    if (record !== null && !isSame) await store.save({ ...record, away: Object.fromEntries(since) });
    if (disagreeing({ ...keyring, named: record?.named }).length > 0) return [];
    return keyring.ring.body.members
      .map(({ device_id }) => device_id)
      .filter((id) => id !== keyring.device_id)
      .filter((id) => keyring.removed.has(id) || least - (since.get(id) ?? most) > AWAY_MS);
  });
}
