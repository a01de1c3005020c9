import type { Device } from '../../shared/client/index.ts';
import type { Keyring } from '../../shared/client/sealed.ts';
import { oneLine, type Output } from './output.ts';
import { isMember, type Keyed } from './sealing.ts';

/*
 * Members of the ring that the service does not list any more. Their session expired, or they were removed while no command
 * of this device was connected: the list does not tell which. An expired session keeps its place for 90 days.
 */

type Told = { readonly output: Pick<Output, 'note'> };

/**
 * Notes which members are not listed. If some have not been listed for 90 days, replaces the key of the account without
 * them. Returns the ring in force.
 */
export async function withoutAway({ output }: Told, keyed: Keyed, devices: readonly Device[]): Promise<Keyed> {
  const { sealing, keyring } = keyed;
  const leaving = await sealing.rings.noteListed(keyring, devices);
  // Devices that were reported as removed are left to `keys rotate`, which asks the user. Nothing is sealed before
  // that.
  const away = leaving.filter((id) => !keyring.removed.has(id));
  if (away.length === 0 || !isMember(keyed)) return keyed;
  const changed = await sealing.linking.remove(away);
  output.note(`The key of the account was replaced, without what was not signed in for 90 days: ${namesOf(away)}.`);
  return { sealing, keyring: changed };
}

const namesOf = (ids: readonly string[]): string => ids.map(oneLine).join(', ');

/** The sentence that an output got last. A command that sends more than once says it once. */
const said = new WeakMap<object, string>();

/** Tells the user which members are not listed, because one of them may have been removed. */
async function tellAway({ output }: Told, keyring: Keyring, devices: readonly Device[]): Promise<void> {
  const { goneMembers } = await import('../../shared/client/sealing.ts');
  const gone = goneMembers(keyring, devices);
  if (gone.length === 0) return;
  const says = `With the key of the account, and not signed in any more: ${namesOf(gone)}`;
  if (said.get(output) === says) return;
  said.set(output, says);
  output.note(`${says}. If a device was removed or lost, \`baton keys rotate\` replaces the key.`);
}

/**
 * Compares the ring with the devices that the service lists, before anything is sealed. Does what `withoutAway` does,
 * and tells the user about the other members that are not listed.
 */
export async function comparedWith(context: Told, keyed: Keyed, devices: readonly Device[]): Promise<Keyed> {
  const compared = await withoutAway(context, keyed, devices);
  await tellAway(context, compared.keyring, devices);
  return compared;
}
