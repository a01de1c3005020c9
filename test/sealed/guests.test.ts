import { createHash } from 'node:crypto';
import { openMessage, sealMessage } from '../../shared/client/sealed/content/messages.ts';
import { openTransfer } from '../../shared/client/sealed/content/transfers.ts';
import { type Keyring, keysOf } from '../../shared/client/sealed/keyring.ts';
import { publicKeysOf } from '../../shared/client/sealed/keys/device-keys.ts';
import { signGuests } from '../../shared/client/sealed/ring/guests.ts';
import { makeFirstRing } from '../../shared/client/sealed/ring/change.ts';
import type { Device, Message } from '../../shared/client/wire.ts';
import { type Site, startSite } from '../support/site.ts';
import type { Party } from './hostile/party.ts';
import { makeWorld } from './hostile/world.ts';

/* Guests of an encrypted account, by a server that shows older lists, other lists and another time, and by a guest that lies. */

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );

/** The place of the list with the one guest of an account. */
const FIRST = { n: 2, number: 1 };
const HOUR = { scope: 'full', persist: 'once' } as const;

/** Lets a guest in again that has lost its keys: it makes others. */
async function letInAgain(link: Awaited<ReturnType<typeof makeWorld>>['link'], by: Party, guest: Party): Promise<void> {
  await guest.stores.keys.clear();
  expect(await link(by, guest, HOUR)).toBe(true);
}

/** An account of two devices with keys, and a guest. */
async function account() {
  const world = await makeWorld(1, site.one);
  const { ann, bob, mallory: guest, server, link, admit } = world;
  await ann.sealing.rings.create({ kind: 'cli' });
  await admit(ann, 'keys');
  expect([await link(ann, bob), await link(ann, guest, HOUR)]).toEqual([true, true]);
  const current = async ({ sealing }: typeof ann): Promise<Keyring> => {
    const keyring = await sealing.rings.current();
    if (keyring === null) throw new Error('no keys');
    return keyring;
  };
  const devices = [ann, bob, guest].map(({ id, device }) => ({ device_id: id, name: device.name })) as Device[];
  const send = async (by: typeof ann, to: string, text: string) =>
    by.sealing.texts.send(await current(by), { to, text, devices });
  const messages = () =>
    server.posted.map(({ from, sealed, messageId }): Message & { sealed: string } => ({
      ...{ message_id: messageId, from_device_id: from, from_name: 'any', content: '', sealed },
      ...{ created_at: Date.now(), redelivered: false },
    }));
  return { ...world, guest, current, send, messages };
}

test('it holds no key of the account: it opens what is for it, and nothing else', async () => {
  const { ann, bob, guest, server, current, send, messages } = await account();
  await send(ann, bob.id, 'for bob');
  await send(ann, guest.id, 'for the guest');
  await ann.sealing.texts.setClipboard(await current(ann), 'clipboard');
  const shared = await sealMessage(await current(ann), { to: '*', text: 'for members', t: Date.now() });
  const keyring = await current(guest);
  expect(keyring.accountKeys).toEqual([]);
  const [forBob, forGuest] = messages() as [Message, Message];
  const open = async (message: Message, by: typeof guest = guest) => by.sealing.texts.open(await current(by), message);
  expect(await open(forGuest)).toMatchObject({ kind: 'opened', text: 'for the guest', sender: { kind: 'cli' } });
  expect(await open(forBob)).toMatchObject({ kind: 'refused', problem: { code: 'for_members' } });
  expect(await open({ ...forGuest, sealed: shared })).toMatchObject({ problem: { code: 'for_members' } });
  expect(await open(forGuest, bob)).toMatchObject({ kind: 'refused' });
  const entry = {
    content: '',
    content_type: 'text/plain',
    source_device_id: ann.id,
    source_device_name: 'any',
  } as const;
  const sealed = server.posted.at(-1)?.sealed ?? '';
  const copied = { ...entry, sealed, updated_at: 1, expires_at: null };
  expect(await guest.sealing.texts.openClipboard(keyring, copied)).toMatchObject({
    problem: { code: 'guest_clipboard' },
  });
  expect(await codeOf(guest.sealing.texts.setClipboard(keyring, 'x'))).toBe('guest_clipboard');
});

test('it signs what it sends, passes for nobody else, and lets nobody in', async () => {
  const { ann, bob, guest, dan, current, send, messages, link } = await account();
  await send(guest, bob.id, 'of the guest');
  const [own] = messages() as [Message];
  const open = async (message: Message) => bob.sealing.texts.open(await current(bob), message);
  expect(await open(own)).toMatchObject({ kind: 'opened', sender: { kind: 'guest', isRemoved: false } });
  expect(await open({ ...own, from_device_id: ann.id })).toMatchObject({ kind: 'refused' });
  const keyring = await current(guest);
  const posing = await sealMessage({ ...keyring, device_id: ann.id }, { to: bob.id, text: 'x', t: Date.now() });
  expect(await open({ ...own, from_device_id: ann.id, sealed: posing })).toMatchObject({
    problem: { code: 'wrong_signer' },
  });
  expect(await codeOf(guest.sealing.linking.remove([bob.id]))).toBe('not_a_member');
  expect(await link(guest, dan)).toBe(false);
  expect(await link(guest, dan, HOUR)).toBe(false);
});

test('a device that fetched the list before a guest came opens what it sends, and files as well', async () => {
  const { bob, guest, server, current, send, messages, link, ann, dan } = await account();
  const before = await current(bob);
  expect(await link(ann, dan, HOUR)).toBe(true);
  await bob.sealing.texts.send(await current(bob), { to: dan.id, text: 'x', devices: [] });
  await dan.sealing.texts.send(await current(dan), { to: bob.id, text: 'of the new one', devices: [] });
  expect(keysOf(before, dan.id, Date.now())).toBeNull();
  const newest = messages().at(-1) as Message;
  expect(await bob.sealing.texts.open(before, newest)).toMatchObject({ kind: 'opened', text: 'of the new one' });
  await bob.sealing.texts.shown(before, newest);
  expect(await bob.sealing.texts.open(before, newest)).toEqual({ kind: 'again' });
  const { sealed } = await dan.sealing.files.seal(await current(dan), { to: bob.id, files: [] });
  expect(await openTransfer(await current(bob), { sealed, from: dan.id })).toMatchObject({ sender: { kind: 'guest' } });
  expect(await codeOf(openTransfer(await current(guest), { sealed, from: dan.id }))).toBe('cannot_open');
  await send(guest, dan.id, 'between guests');
  expect(server.posted.at(-1)).toMatchObject({ to: dan.id });
});

describe('a server that shows', () => {
  test('the list from before a removal has nothing sealed for the guest, by anybody, also when it is signed again', async () => {
    const { ann, bob, guest, dan, server, current, send, link } = await account();
    const old = server.lists.at(-1) ?? '';
    await send(bob, guest.id, 'before');
    const { epoch } = (await current(ann)).ring.body;
    await ann.sealing.linking.remove([guest.id]);
    server.shownList = old;
    for (const by of [ann, bob]) {
      expect(await codeOf(send(by, guest.id, 'after'))).toBe('unkeyed_receiver');
      expect(await codeOf(by.sealing.files.seal(await current(by), { to: guest.id, files: [] }))).toBe(
        'unkeyed_receiver',
      );
      expect(await send(by, '*', 'after')).toMatchObject({ unkeyed: [{ device_id: guest.id }] });
    }
    expect(await codeOf(send(guest, bob.id, 'after'))).toBe('unkeyed');
    expect((await current(bob)).ring.body.epoch).toBe(epoch);
    server.shownList = null;
    expect(await link(bob, dan, HOUR)).toBe(true);
    server.shownList = server.lists.at(-1) ?? '';
    expect(await codeOf(send(ann, guest.id, 'after'))).toBe('unkeyed_receiver');
    expect(await codeOf(send(ann, dan.id, 'to the other one'))).toBe('done');
    // Its messages from before the removal still name it, and are marked.
    const opened = server.posted.filter(({ from, to }) => from === bob.id && to === guest.id);
    expect(opened).toHaveLength(1);
  });

  test('no list while a guest is removed cannot have anything sealed for it later, by anybody', async () => {
    const { ann, bob, guest, server, current, send } = await account();
    const { epoch } = (await current(ann)).ring.body;
    const [old = ''] = server.lists;
    // Bob has seen no list.
    server.hidesList = true;
    await bob.sealing.linking.remove([guest.id]);
    [server.hidesList, server.shownList] = [false, old];
    for (const by of [ann, bob]) expect(await codeOf(send(by, guest.id, 'after'))).toBe('unkeyed_receiver');
    expect((await current(bob)).ring.body).toMatchObject({ epoch: epoch + 1, gone_guests: [{ device_id: guest.id }] });
  });

  test('an older list is refused aloud: nothing is sealed, also after a restart, for keys that a guest has replaced', async () => {
    const { ann, bob, guest, server, current, send, link, dan, messages } = await account();
    const old = server.lists.at(-1) ?? '';
    const before = await current(guest);
    await link(ann, dan);
    await letInAgain(link, ann, guest);
    await send(bob, guest.id, 'for the new keys');
    const posted = server.posted.length;
    for (const shown of [old, null]) {
      server.shownList = shown;
      server.hidesList = shown === null;
      for (const by of [ann, bob, guest]) {
        expect(await codeOf(current(by))).toBe('devices_disagree');
        by.restart();
        expect(await codeOf(current(by))).toBe('devices_disagree');
        expect(await codeOf(send(by, guest.id, 'x'))).toBe('devices_disagree');
      }
    }
    expect(server.posted).toHaveLength(posted);
    server.shownList = old;
    // A device that has not seen the newer list cannot know.
    expect(await codeOf(send(dan, guest.id, 'for the old keys'))).toBe('done');
    [server.shownList, server.hidesList] = [null, false];
    expect(await codeOf(send(dan, guest.id, 'for the new keys again'))).toBe('done');
    const [first, second, third] = messages();
    const open = (message: Message | undefined, keyring: Keyring) =>
      codeOf(
        openMessage(keyring, { sealed: message?.sealed ?? '', from: message?.from_device_id ?? '', to: guest.id }),
      );
    const now = await current(guest);
    const opens = (message: Message | undefined, { keys }: Keyring) => open(message, { ...now, keys });
    expect([await opens(first, now), await opens(first, before)]).toEqual(['done', 'cannot_open']);
    expect([await opens(second, now), await opens(second, before)]).toEqual(['cannot_open', 'done']);
    expect([await opens(third, now), await opens(third, before)]).toEqual(['done', 'cannot_open']);
  });

  test('a store that has lost the newest list gets it back from a member, with what another one has put meanwhile', async () => {
    const { ann, bob, guest, dan, server, current, send, link } = await account();
    await current(bob);
    server.forgetsLists = true;
    await letInAgain(link, ann, guest);
    expect(await codeOf(current(ann))).toBe('devices_disagree');
    server.forgetsLists = false;
    // Bob has not seen the list that was lost.
    expect(await link(bob, dan, HOUR)).toBe(true);
    for (const by of [ann, bob]) {
      for (const to of [guest, dan]) expect(await codeOf(send(by, to.id, `to ${to.device.name}`))).toBe('done');
    }
    const own = await current(guest);
    for (const { sealed, from } of server.posted.filter(({ to }) => to === guest.id)) {
      expect(await codeOf(openMessage(own, { sealed, from, to: guest.id }))).toBe('done');
    }
  });

  test('a list of its own, or of another account, lets nobody in, and is refused aloud', async () => {
    const { ann, bob, guest, dan, server, current, send, attacker, account: own } = await account();
    const { keys } = attacker;
    const { ring } = await current(bob);
    const stranger = { device_id: dan.id, ...(await publicKeysOf(keys)), until: Date.now() + 3_600_000 };
    const foreign = await makeFirstRing(
      { ...own, user_id: 'another' },
      { device_id: bob.id, keys: (await current(bob)).keys, kind: 'cli' },
    );
    const posing = { device_id: bob.id, keys };
    const lists = [
      await signGuests(ring, [stranger], posing, Date.now(), FIRST),
      await signGuests({ ...ring, body: { ...foreign.body, n: 2 } }, [stranger], await current(bob), Date.now()),
    ];
    for (const list of lists) {
      server.shownList = list;
      for (const by of [ann, bob, guest]) {
        expect(await codeOf(current(by))).toBe('bad_guests');
        expect(await codeOf(send(by, dan.id, 'x'))).toBe('bad_guests');
      }
    }
    server.shownList = null;
    expect(await codeOf(send(bob, dan.id, 'x'))).toBe('unkeyed_receiver');
    expect(await codeOf(send(bob, guest.id, 'x'))).toBe('done');
  });

  test('a list that nobody signed, which is in its store, gets the newest known list in its place', async () => {
    const { ann, bob, guest, server, current, send, attacker, account: own } = await account();
    const forged = await attacker.guestsAt((await current(ann)).ring.text, own);
    const hash = createHash('sha256')
      .update(Buffer.from(forged.split('.')[0] ?? '', 'base64url'))
      .digest('base64url');
    const puts = server.lists.length;
    await site.redis.hset(`${site.prefix}:{${own.user_id}}:keys`, { guests: forged, guests_hash: hash });
    for (const by of [ann, bob]) expect(await codeOf(send(by, guest.id, 'x'))).toBe('done');
    expect(server.lists.slice(puts)).toHaveLength(1);
  });

  test('another time does not prolong the hour of a guest by more than its clock may be wrong', async () => {
    const { ann, bob, guest, server, current, send } = await account();
    const { ring, ...known } = await current(ann);
    const [listed] = known.guests;
    const over = { ...(listed as NonNullable<typeof listed>), until: Date.now() - 660_000 };
    server.shownList = await signGuests(ring, [over], { ...known, ring } as Keyring, Date.now(), FIRST);
    server.clockMs = -86_400_000;
    await current(bob);
    expect(await codeOf(send(bob, guest.id, 'late'))).toBe('unkeyed_receiver');
  });
});

test('what a guest sent within its time is opened afterwards, and what it dates later is marked', async () => {
  const { ann, bob, guest, server, current } = await account();
  const own = await current(guest);
  const known = await current(ann);
  const [listed] = known.guests;
  const until = Date.now() - 1_000;
  const inTime = await sealMessage(own, { to: bob.id, text: 'in time', t: until - 1 });
  const late = await sealMessage(own, { to: bob.id, text: 'late', t: until + 1 });
  server.shownList = await signGuests(
    known.ring,
    [{ ...(listed as NonNullable<typeof listed>), until }],
    known,
    Date.now(),
  );
  const keyring = await current(bob);
  const open = (sealed: string) => openMessage(keyring, { sealed, from: guest.id, to: bob.id });
  expect(await open(inTime)).toMatchObject({ text: 'in time', sender: { kind: 'guest', isRemoved: false } });
  expect(await open(late)).toMatchObject({ sender: { kind: 'guest', isRemoved: true } });
  expect(await codeOf(bob.sealing.texts.send(keyring, { to: guest.id, text: 'x', devices: [] }))).toBe(
    'unkeyed_receiver',
  );
});

test('a device that hears that a guest was removed seals nothing for it, also after a restart, and goes on with the others', async () => {
  const { ann, bob, guest, current, send } = await account();
  await bob.sealing.rings.noteRemoved(guest.id);
  expect(await codeOf(send(bob, guest.id, 'x'))).toBe('unkeyed_receiver');
  expect((await bob.stores.keys.load())?.removedGuests).toEqual([guest.id]);
  expect(await codeOf(send(bob, ann.id, 'x'))).toBe('done');
  expect(keysOf(await current(ann), guest.id, Date.now())).not.toBeNull();
});

test('the guests stay when the device whose list names them gets other keys', async () => {
  const { ann, bob, guest, dan, current, send, link } = await account();
  expect(await link(bob, dan, HOUR)).toBe(true);
  await bob.stores.keys.clear();
  expect(await link(ann, bob)).toBe(true);
  for (const by of [ann, bob]) {
    for (const { id } of [guest, dan]) expect(await codeOf(send(by, id, 'x'))).toBe('done');
  }
  expect((await current(dan)).ring.body.n).toBe(3);
});
