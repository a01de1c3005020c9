import { publicKeysOf } from '../../shared/client/sealed/keys/device-keys.ts';
import { startSite, type Site } from '../support/site.ts';
import { areOnOneChain, chainOf, currentOf, type Party, unlessRefused } from '../sealed/hostile/party.ts';
import { numberOf } from '../sealed/hostile/lies.ts';
import { invite, rekey } from '../sealed/hostile/visits.ts';
import type { Seen } from '../sealed/hostile/run.ts';
import { makeWorld, type World } from '../sealed/hostile/world.ts';

/*
 * Devices with keys use a server that swaps rings, keys, ids, targets and senders, and that replays, drops, reorders,
 * truncates, forks and rolls back, as a seed decides. Guests come and go, and help that server with their keys; it shows false
 * lists of guests. Behind it is a real replica. Nothing forged, repeated or cut is shown as genuine, nothing is sealed for a
 * device that is out, and nothing genuine is refused. In the end the server is honest and delivers everything that it has.
 */

const { APP_TEST_SEEDS: seeds, APP_TEST_FIRST_SEED: first, APP_TEST_SEED: only } = process.env;
/** One fault is enough when the client has a planted one. */
const { APP_TEST_UNTIL_FAULT: untilFault } = process.env;
const COUNT = Number(seeds || 50);
const SEEDS = only ? [Number(only)] : Array.from({ length: COUNT }, (_, index) => Number(first || 0) + index);
const STEPS = 40;
/** Seeds wait for repeated requests most of the time, so this many run at once. */
const AT_ONCE = 8;

let site: Site;
beforeAll(async () => {
  site = await startSite({}, { alone: true });
});
afterAll(() => site.stop());

/** Removes Mallory from the ring. From then on the server has Mallory's keys. */
async function removeMallory({ ann, bob, mallory, chance, members, server, take }: World): Promise<void> {
  const keyring = await currentOf(mallory);
  if (keyring === null) return;
  const by = chance.pick([ann, bob]);
  const changed = await unlessRefused(by.sealing.linking.remove([mallory.id]));
  if (changed === null) return;
  take(keyring);
  members.splice(members.indexOf(mallory), 1);
  server.removedSigner = keyring.keys.sig;
  server.removedSig = (await publicKeysOf(keyring.keys)).sig;
}

/**
 * Writes to a guest that this device knows to be removed. The server may have hidden its list of guests, and can show it again.
 */
async function writeAfter({ chance, server, write }: World, out: { by: Party; id: string } | null): Promise<void> {
  if (out === null) return;
  if (chance.is(0.5)) server.isHostile = false;
  await write(out.by, out.id);
}

async function step(world: World): Promise<void> {
  const { dan, chance, members, server, write, look, deliver, messageFor, tellRemoved } = world;
  const { guests, parties } = world;
  const by = chance.pick([...members, ...guests.visiting]);
  const others = [...parties.map(({ id }) => id), 'attacker'].filter((id) => id !== by.id);
  const guestsOnly = others.filter((id) => guests.isGuest(id));
  const to = chance.pick(chance.is(0.4) ? guestsOnly : others);
  server.isHostile = chance.is(0.8);
  if (chance.is(0.05)) by.restart();
  // A partition lasts for some steps: a device gets content of the newer ring, and is not shown that ring.
  if (chance.is(0.15)) server.keptBehind = chance.is(0.5) ? null : chance.pick(members).id;
  const does = chance.below(100);
  if (does < 24) await write(by, chance.is(0.4) ? '*' : to);
  else if (does < 32) await write(by, '');
  else if (does < 40) await look(by);
  else if (does < 47) await (world.hasTaken() ? tellRemoved(by) : removeMallory(world));
  else if (does >= 94) await stepOfFiles(world, by);
  else if (does >= 90) await stepOfNews(world, by);
  else if (does < 63 || does >= 83) await stepOfGuests(world, by, does);
  else if (does < 68 && !members.includes(dan)) await letDanIn(world);
  else if (server.posted.length > 0) await deliver(by, await messageFor(by));
}

/** Lets Dan in, by a code or by recovery words. */
async function letDanIn({ chance, ann, bob, dan, members, link, hasWords, recover }: World): Promise<void> {
  const isIn = hasWords() && chance.is(0.6) ? await recover(dan) : await link(chance.pick([ann, bob]), dan);
  if (isIn) members.push(dan);
}

/** A device sends files, and another one gets what the server has of them. */
async function stepOfFiles({ chance, server, members, guests, offer, handFiles }: World, by: Party): Promise<void> {
  const to = chance.pick([...members, ...guests.visiting].filter((each) => each !== by));
  if (chance.is(0.8)) server.isHostile = false;
  await offer(by, to.id);
  for (let left = 1 + chance.below(3); left > 0; left -= 1) {
    server.isHostile = chance.is(0.7);
    await handFiles(chance.is(0.9) ? to : chance.pick(members));
  }
}

/** The server lists the devices of the account, announces that its keys are removed, or says that it has none. */
async function stepOfNews({ chance, list, announce, hideKeys }: World, by: Party): Promise<void> {
  const does = chance.pick(['list', 'list', 'announce', 'hide']);
  if (does === 'list') await list(by);
  else if (does === 'announce') await announce(by);
  else await hideKeys(by);
}

/** Guests come and go, and get other keys. */
async function stepOfGuests(world: World, by: Party, does: number): Promise<void> {
  const { guests } = world;
  const isVisited = guests.visiting.length > 0;
  if (does < 55 && guests.canCome() !== null) await invite(world);
  else if (does < 58 && isVisited) await writeAfter(world, await guests.remove());
  else if (does < 63) await writeAfter(world, await guests.tell(by));
  else if (isVisited) await rekey(world);
}

/**
 * Makes the server honest again: all devices have one list, or say that there are several, and everything that the server has
 * arrives.
 */
async function heal(world: World): Promise<void> {
  const { server, members, seen, account, admitted, replica, deliver } = world;
  server.isHostile = false;
  const all = [...members, ...world.guests.visiting];
  for (const party of all) {
    if ((await currentOf(party)) === null) seen.disagreed += 1;
    const { messages } = (await party.device.on(replica).call('listMessages')).body;
    for (const message of messages) {
      const posted = server.posted.find(({ messageId }) => messageId === message.message_id);
      const act = posted === undefined ? null : world.actOf(posted, party);
      if (await deliver(party, { message, act })) seen.healed += 1;
    }
  }
  const chains = await Promise.all(all.map((party) => chainOf(party, account, admitted)));
  const agreed = await Promise.all(all.map(currentOf));
  const usable = chains.filter((_, index) => agreed[index] !== null);
  for (const chain of usable) expect(areOnOneChain(chain, usable[0] ?? [])).toBe(true);
}

async function run(seed: number): Promise<Seen> {
  const world = await makeWorld(seed, site.one);
  try {
    return await runIn(world);
  } finally {
    world.close();
  }
}

async function runIn(world: World): Promise<Seen> {
  const { ann, bob, mallory, members, account, admitted, link, admit, guests, server } = world;
  await ann.sealing.rings.create({ kind: 'cli' });
  await admit(ann, 'keys');
  for (const each of [bob, mallory]) expect(await link(ann, each)).toBe(true);
  if (world.chance.is(0.6)) await world.makeRecoveryWords(world.chance.pick([ann, bob]));
  for (let count = 0; count < STEPS; count += 1) {
    await step(world);
    for (const fault of world.faults) throw new Error(fault);
    for (const party of [...members, ...guests.visiting]) {
      const known = party.heads;
      const chain = await chainOf(party, account, admitted);
      for (const { n, hash } of chain) {
        if ((known.get(n) ?? hash) !== hash) throw new Error(`${party.device.name} has replaced a ring`);
        known.set(n, hash);
      }
      if (Math.max(0, ...known.keys()) > (chain.at(-1)?.n ?? 0)) throw new Error(`${party.device.name} went back`);
      const named = (await party.stores.keys.load())?.seen ?? 0;
      if (named > Math.max(...server.rings.map(numberOf)))
        throw new Error(`${party.device.name} believes in a ring of nobody`);
    }
  }
  await heal(world);
  return world.seen;
}

test('nothing is shown that nobody wrote, and nothing genuine is lost, whatever the server does', async () => {
  const total: Partial<Record<keyof Seen, number>> = {};
  const faults: string[] = [];
  const left = [...SEEDS];
  const runAll = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const at = seed;
      const seen = await run(at).catch((error: unknown) => {
        faults.push(`seed ${at}: ${error instanceof Error ? error.message : String(error)}`);
        process.stdout.write(`${faults.at(-1)}\n`);
        if (only) throw error;
        if (untilFault) left.length = 0;
        return null;
      });
      if (at % 50 === 49) process.stdout.write(`seed ${at} has ended\n`);
      for (const [name, count] of Object.entries(seen ?? {})) {
        total[name as keyof Seen] = (total[name as keyof Seen] ?? 0) + count;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runAll));
  process.stdout.write(`${SEEDS.length} seeds: ${JSON.stringify(total)}\n`);
  expect(faults).toEqual([]);
  if (!only) for (const [name, count] of Object.entries(total)) expect([name, count > 0]).toEqual([name, true]);
}, 3_600_000);
