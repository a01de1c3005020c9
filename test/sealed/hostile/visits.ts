import { HOUR } from './guests.ts';
import type { Party } from './party.ts';
import { messageOf } from './acts.ts';
import type { World } from './world.ts';

/** Lets the next guest in. */
export async function invite(world: World): Promise<void> {
  const { chance, server, guests, ann, bob, acts, link } = world;
  const guest = guests.canCome();
  if (guest === null) return;
  if (chance.is(0.5)) server.isHostile = false;
  const isLinked = await link(chance.pick([ann, bob]), guest, HOUR, { mayEnd: true });
  // The server can keep back the rings after the grant was taken.
  const record = await guest.stores.keys.load();
  if (!isLinked && (record?.account ?? null) === null) return;
  await guests.came(guest, acts.length);
  await sayHello(world, guest);
}

/** The new guest writes to a device that has not read the list of guests since, and still takes the text. */
async function sayHello({ chance, server, ann, bob, write, actOf, deliver }: World, guest: Party): Promise<void> {
  const by = chance.pick([ann, bob]);
  const before = server.posted.length;
  await write(guest, by.id);
  const posted = server.posted.at(before);
  if (posted === undefined) return;
  server.isHostile = false;
  await deliver(by, { message: messageOf(posted), act: actOf(posted, by), isBusy: true });
}

/**
 * Gives other keys to a guest that has lost its own, and then shows an older list to a device that knows the newer one. What
 * the device writes to the guest is not for the keys that the server has from it.
 */
export async function rekey(world: World): Promise<void> {
  const { chance, server, guests, lists, seen, ann, bob, acts, link, known, write } = world;
  const guest = chance.pick(guests.visiting);
  if (chance.is(0.7)) server.isHostile = false;
  await guests.loseKeys(guest);
  if (!(await link(chance.pick([ann, bob]), guest, HOUR, { mayEnd: true }))) return;
  await guests.came(guest, acts.length);
  seen.rekeyed += 1;
  const by = chance.pick([ann, bob, ...guests.visiting].filter((each) => each !== guest));
  server.isHostile = false;
  if ((await known(by)) === null) return;
  if (chance.is(0.5)) by.restart();
  server.shownList = lists.olderThan(by, guest.id);
  if (server.shownList !== null) seen.olderLists += 1;
  await write(by, guest.id);
  server.shownList = null;
}
