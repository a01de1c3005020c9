import { type Keyring, noteRemoved } from '../sealed/keyring.ts';
import { WORDS_KIND } from '../sealed/ring/words-member.ts';
import type { Device } from '../wire.ts';

/** Returns the members of the ring that are no longer devices of the account: signed out, removed, or expired. */
export function goneMembers({ ring }: Keyring, devices: readonly Pick<Device, 'device_id'>[]): string[] {
  const ids = new Set(devices.map(({ device_id }) => device_id));
  const members = ring.body.members.filter(({ kind }) => kind !== WORDS_KIND);
  return members.map(({ device_id }) => device_id).filter((id) => !ids.has(id));
}

/** Returns a keyring that refuses to seal while a device that is gone has the key. */
export function withoutGone(keyring: Keyring, devices: readonly Pick<Device, 'device_id'>[]): Keyring {
  return goneMembers(keyring, devices).reduce(noteRemoved, keyring);
}
