import { sealClipboard } from '../../../../shared/client/sealed/content/clipboard.ts';
import { sealMessage } from '../../../../shared/client/sealed/content/messages.ts';
import { type Keyring, noteRemoved, takeKeys } from '../../../../shared/client/sealed/keyring.ts';
import { placeOf, signGuests } from '../../../../shared/client/sealed/ring/guests.ts';
import type { Ring } from '../../../../shared/client/sealed/ring/ring.ts';
import { noteListed } from '../../../../shared/client/sealing/gone.ts';
import { memoryTaken } from '../../../../shared/client/sealing/taken.ts';
import type { SealingCalls } from '../../../../shared/client/sealing/sealing-calls.ts';
import { makeTexts } from '../../../../shared/client/sealing/texts.ts';
import type { Device, Message } from '../../../../shared/client/wire.ts';
import { codeOf, firstRing, keyringOf, makePerson, nextRing, NOW } from '../sealed/people.ts';

/* A service that changes, repeats, cuts and misattributes what devices seal. */

interface Sent {
  to_device_id?: string;
  to?: string;
  sealed?: string;
  content?: string;
}

/** Devices whose list of guests is not read again. */
const NO_RINGS = { current: () => Promise.resolve(null) };

const deviceOf = (device_id: string) => ({ device_id, name: device_id }) as Device;

async function makePair() {
  const [laptop, phone] = [await makePerson('laptop-1'), await makePerson('phone-1')];
  const first = await firstRing(laptop);
  const rings = [first, await nextRing(first, laptop, { add: [phone.asks] })];
  const sent: Sent[] = [];
  const caller = {
    call: (_: string, { body }: { body: Sent }) => {
      sent.push(body);
      const to = [{ device_id: body.to_device_id ?? null, name: 'any', online: false, pushed: false }];
      return Promise.resolve({ status: 201, body: { message_id: `m${sent.length}`, to, created_at: NOW } });
    },
  };
  const clock = { now: NOW };
  const calls = { caller, serverNow: () => clock.now, trustedNow: () => NOW } as unknown as SealingCalls;
  const [own, theirs] = [await keyringOf(laptop, rings), await keyringOf(phone, rings.slice(1)).catch(() => null)];
  return {
    own,
    theirs: theirs ?? (await keyringOf(phone, rings)),
    sent,
    clock,
    store: laptop.store,
    laptop: makeTexts(calls, { store: laptop.store, taken: memoryTaken(), rings: NO_RINGS }),
    phone: makeTexts(calls, { store: phone.store, taken: memoryTaken(), rings: NO_RINGS }),
    devices: [deviceOf('laptop-1'), deviceOf('phone-1')],
  };
}

const messageOf = (sealed: string, more: Partial<Message> = {}): Message => ({
  ...{ message_id: 'm1', from_device_id: 'laptop-1', from_name: 'Laptop', content: '', sealed },
  ...{ created_at: NOW, redelivered: false },
  ...more,
});

const changed = (sealed: string, at: number): string => {
  const bytes = Buffer.from(sealed, 'base64url');
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return bytes.toString('base64url');
};

test('what a service changes, cuts, misattributes or repeats is refused with a sentence, and is never an empty text', async () => {
  const { own, theirs, sent, laptop, phone, devices } = await makePair();
  await laptop.send(own, { to: 'phone-1', text: 'hello', devices });
  const sealed = sent[0]?.sealed ?? '';
  expect(await phone.open(theirs, messageOf(sealed))).toMatchObject({ kind: 'opened', text: 'hello' });
  const attacks: Message[] = [
    ...[5, 20, -1].map((at) => messageOf(changed(sealed, at))),
    messageOf(sealed.slice(0, -8)),
    messageOf(sealed.slice(0, 4)),
    messageOf(''),
    messageOf(sealed, { from_device_id: 'phone-1' }),
    messageOf(sealed, { from_device_id: 'stranger-1' }),
    messageOf(sealed, { from_device_id: null }),
  ];
  for (const attack of attacks) {
    const received = await phone.open(theirs, attack);
    expect(received).toMatchObject({ kind: 'refused', problem: { message: expect.stringMatching(/^This .+/) } });
  }
  await phone.shown(theirs, messageOf(sealed));
  expect(await phone.open(theirs, messageOf(sealed))).toEqual({ kind: 'again' });
  expect(await phone.open(theirs, messageOf(sealed, { message_id: 'm2' }))).toMatchObject({
    kind: 'refused',
    problem: { code: 'sent_before' },
  });
  expect(await phone.open(null, messageOf(sealed))).toMatchObject({ kind: 'waits', problem: { code: 'unkeyed' } });
});

test('a device without keys gets nothing unless that was said, whatever the service says of who there is', async () => {
  const { own, sent, laptop, devices } = await makePair();
  const all = [...devices, deviceOf('planted-1')];
  expect(await codeOf(laptop.send(own, { to: 'planted-1', text: 'x', devices: all }))).toBe('unkeyed_receiver');
  expect(await laptop.send(own, { to: '*', text: 'x', devices: all })).toMatchObject({
    unkeyed: [{ device_id: 'planted-1' }],
  });
  expect(sent.map((each) => [each.to_device_id, each.content])).toEqual([['phone-1', undefined]]);
  await laptop.send(own, { to: 'planted-1', text: 'open', devices: all, plain: true });
  expect(sent.at(-1)).toEqual({ to_device_id: 'planted-1', content: 'open' });
});

test('nothing is sealed while a removed device has the key, and a device whose session expired keeps its place', async () => {
  const { own, sent, laptop, store, devices } = await makePair();
  const left = devices.slice(0, 1);
  expect(await codeOf(laptop.setClipboard(own, 'x'))).toBe('taken');
  expect(await codeOf(laptop.send(own, { to: 'phone-1', text: 'x', devices: left }))).toBe('taken');
  const removed = await noteRemoved(store, own, 'phone-1');
  expect(await codeOf(laptop.setClipboard(removed, 'x'))).toBe('rotation_due');
  expect(await codeOf(laptop.send(removed, { to: '*', text: 'x', devices }))).toBe('rotation_due');
  expect(sent).toHaveLength(2);
});

test('the clipboard of a device that was removed is refused', async () => {
  const [laptop, phone] = [await makePerson('laptop-1'), await makePerson('phone-1')];
  const first = await firstRing(laptop);
  const both = await nextRing(first, laptop, { add: [phone.asks] });
  const ofPhone = await keyringOf(phone, [both]);
  const alone = await keyringOf(laptop, [first, both, await nextRing(both, laptop, { remove: ['phone-1'] })]);
  const calls = { serverNow: () => NOW, trustedNow: () => NOW } as unknown as SealingCalls;
  const texts = makeTexts(calls, { store: laptop.store, taken: memoryTaken(), rings: NO_RINGS });
  const entry = {
    ...{
      content: '',
      sealed: await sealClipboard(ofPhone, { text: 'rm', t: NOW }),
      content_type: 'text/plain' as const,
    },
    ...{ source_device_id: 'phone-1', source_device_name: 'Laptop', updated_at: NOW, expires_at: NOW + 1 },
  };
  expect(await texts.openClipboard(alone, entry)).toMatchObject({ kind: 'refused', problem: { code: 'not_a_member' } });
});

test('a member leaves the ring when it was removed, or was not listed for 90 days', async () => {
  const { own, store, devices } = await makePair();
  const [left, day] = [devices.slice(0, 1), 86_400_000];
  const note = (listed: typeof devices, at: number, keyring = own) => noteListed(store, keyring, listed, [at, at]);
  expect(await note(left, NOW)).toEqual([]);
  expect(await note(left, NOW + 90 * day)).toEqual([]);
  expect(await note(left, NOW + 90 * day + 1)).toEqual(['phone-1']);
  // A device that was back meanwhile starts over.
  expect(await note(devices, NOW + 91 * day)).toEqual([]);
  expect(await note(left, NOW + 92 * day)).toEqual([]);
  expect(await note(devices, NOW, await noteRemoved(store, own, 'phone-1'))).toEqual(['phone-1']);
});

const DAY = 86_400_000;
test.each<[string, number, number]>([
  ['of a service goes ahead', 0, 91 * DAY],
  ['of a service was behind', -91 * DAY, 0],
])('a clock %s by months, and no member leaves the ring for that', async (_, first, second) => {
  for (const isOwn of [false, true]) {
    const { own, store, devices } = await makePair();
    const note = (at: number, other: number) =>
      noteListed(store, own, devices.slice(0, 1), isOwn ? [at, other] : [other, at]);
    expect(await note(NOW, NOW + first)).toEqual([]);
    expect(await note(NOW, NOW + second)).toEqual([]);
    // Both clocks agree that it is time.
    expect(await note(NOW + 91 * DAY, NOW + 91 * DAY)).toEqual(['phone-1']);
  }
});

test('a device that a service lists twice gets a text once', async () => {
  const { own, sent, laptop, devices } = await makePair();
  const twice = [...devices, ...devices, deviceOf('planted-1')];
  await laptop.send(own, { to: '*', text: 'x', devices: twice });
  expect(sent.map((each) => each.to_device_id)).toEqual(['phone-1']);
});

test('a text that was sealed again after a rotation is shown once, and one that somebody repeats is refused', async () => {
  const laptop = await makePerson('laptop-1');
  const [phone, third] = [await makePerson('phone-1'), await makePerson('third-1')];
  const first = await firstRing(laptop);
  const before = [first, await nextRing(first, laptop, { add: [phone.asks, third.asks] })];
  const after = [...before, await nextRing(before[1] as Ring, laptop, { remove: ['third-1'] })];
  const calls = { caller: null, serverNow: () => NOW, trustedNow: () => NOW } as unknown as SealingCalls;
  const texts = makeTexts(calls, { store: laptop.store, taken: memoryTaken(), rings: NO_RINGS });
  const about = { to: 'phone-1', text: 'once', id: 'item 1' };
  const sealed = await texts.seal(await keyringOf(laptop, before), about);
  const again = await texts.seal(await keyringOf(laptop, after), about);
  const other = await texts.seal(await keyringOf(laptop, after), { ...about, id: 'item 2' });
  expect(again).not.toBe(sealed);
  // Either text may arrive first.
  for (const [one, two] of [
    [sealed, again],
    [again, sealed],
  ] as const) {
    const taking = makeTexts(calls, {
      store: (await makePerson('phone-1')).store,
      taken: memoryTaken(),
      rings: NO_RINGS,
    });
    const theirs = await keyringOf(phone, after);
    expect(await taking.open(theirs, messageOf(one))).toMatchObject({ kind: 'opened', text: 'once' });
    await taking.shown(theirs, messageOf(one));
    expect(await taking.open(theirs, messageOf(two, { message_id: 'm2' }))).toEqual({ kind: 'again' });
    expect(await taking.open(theirs, messageOf(one, { message_id: 'm3' }))).toMatchObject({
      problem: { code: 'sent_before' },
    });
    expect(await taking.open(theirs, messageOf(other, { message_id: 'm4' }))).toMatchObject({ kind: 'opened' });
  }
});

test('a text is not taken for one of another sender with the same id, and a note of an earlier version counts', async () => {
  const [laptop, phone, thief] = [
    await makePerson('laptop-1'),
    await makePerson('phone-1'),
    await makePerson('thief-1'),
  ];
  const first = await firstRing(laptop);
  const second = await nextRing(first, laptop, { add: [phone.asks, thief.asks] });
  const third = await nextRing(second, laptop, { add: [(await makePerson('tablet-1')).asks] });
  const theirs = await keyringOf(phone, [second, third]);
  const [taken, id] = [memoryTaken(), 'A'.repeat(22)];
  const calls = { caller: null, serverNow: () => NOW, trustedNow: () => NOW } as unknown as SealingCalls;
  const texts = makeTexts(calls, { store: phone.store, taken, rings: NO_RINGS });
  const by = async ({ id: from }: typeof laptop, keyring: Keyring, text: string) =>
    messageOf(await sealMessage(keyring, { to: 'phone-1', text, t: NOW, id }), {
      message_id: text,
      from_device_id: from,
    });
  const forged = await by(thief, await keyringOf(thief, [second]), 'forged');
  const genuine = await by(laptop, await keyringOf(laptop, [first, second, third]), 'genuine');
  expect(await texts.open(theirs, forged)).toMatchObject({ kind: 'opened' });
  await texts.shown(theirs, forged);
  expect(await texts.open(theirs, genuine)).toMatchObject({ kind: 'opened', text: 'genuine' });
  await taken.addMessage(id, 'genuine', 3, NOW);
  expect(await texts.open(theirs, genuine)).toEqual({ kind: 'again' });
});

test('a text that is no newer than a forgotten one is refused, because it may be a repetition', async () => {
  const { own, theirs, store } = await makePair();
  const calls = { caller: null, serverNow: () => NOW, trustedNow: () => NOW } as unknown as SealingCalls;
  const taken = { ...memoryTaken(), forgottenUntil: () => Promise.resolve(NOW - 5) };
  const texts = makeTexts(calls, { store, taken, rings: NO_RINGS });
  const dated = async (t: number) => messageOf(await sealMessage(own, { to: 'phone-1', text: `${t - NOW}`, t }));
  const old = await dated(NOW - 5);
  expect(await texts.open(theirs, old)).toMatchObject({ kind: 'refused', problem: { code: 'too_old' } });
  expect(await texts.open(theirs, await dated(NOW - 4))).toMatchObject({ kind: 'opened', text: '-4' });
  await texts.shown(theirs, old);
  expect(await texts.open(theirs, old)).toEqual({ kind: 'again' });
});

test('a guest that got other keys is read by the newest list, and nobody else', async () => {
  const [laptop, phone] = [await makePerson('laptop-1'), await makePerson('phone-1')];
  const [before, after, stranger] = [
    await makePerson('guest-1'),
    await makePerson('guest-1'),
    await makePerson('guest-1'),
  ];
  const first = await firstRing(laptop);
  const rings = [first, await nextRing(first, laptop, { add: [phone.asks] })];
  const [, ring] = rings as [Ring, Ring];
  const listOf = ({ asks: { enc, sig } }: typeof before, older: string | null) =>
    signGuests(
      ring,
      [{ device_id: 'guest-1', enc, sig, until: NOW + 1 }],
      laptop.signer,
      NOW,
      older === null ? null : placeOf(older),
    );
  const older = await listOf(before, null);
  const newer = await listOf(after, older);
  const theirs = await keyringOf(phone, [ring], older);
  let asked = 0;
  const current = async () => {
    asked += 1;
    return (await takeKeys(phone.store, { rings: [], n: 2, guests: newer }, NOW)).keyring;
  };
  const calls = { caller: null as never, serverNow: () => NOW, trustedNow: () => NOW } as unknown as SealingCalls;
  const texts = makeTexts(calls, { store: phone.store, taken: memoryTaken(), rings: { current } });
  const from = async (guest: typeof before, list: string, keys = guest) => {
    const keyring = { ...(await keyringOf(guest, [ring], list)), keys: keys.signer.keys };
    const sealed = await sealMessage(keyring, { to: 'phone-1', text: 'hello', t: NOW });
    return texts.open(theirs, messageOf(sealed, { from_device_id: 'guest-1' }));
  };
  expect(await from(after, newer)).toMatchObject({ kind: 'opened', text: 'hello' });
  expect(asked).toBe(1);
  expect(await from(after, newer, stranger)).toMatchObject({ problem: { code: 'wrong_signer' } });
});

test('a clipboard is never older than the one before it, where the known time of the service goes back a little', async () => {
  const { own, theirs, clock, sent, laptop, phone } = await makePair();
  const entry = (sealed: string | undefined) =>
    ({ content: '', content_type: 'text/plain', sealed, source_device_id: 'laptop-1' }) as never;
  await laptop.setClipboard(own, 'first');
  clock.now -= 900;
  await laptop.setClipboard(own, 'second');
  const [first, second] = sent.map(({ sealed }) => entry(sealed));
  expect(await phone.openClipboard(theirs, first as never)).toMatchObject({ kind: 'opened', text: 'first' });
  expect(await phone.openClipboard(theirs, second as never)).toMatchObject({ kind: 'opened', text: 'second' });
  expect(await phone.openClipboard(theirs, first as never)).toMatchObject({ problem: { code: 'too_old' } });
  // A service that told a time far ahead is believed only while it tells that time.
  clock.now += 7_200_000;
  await laptop.setClipboard(own, 'far ahead');
  clock.now = NOW;
  await laptop.setClipboard(own, 'now');
  const { t } = (await laptop.openClipboard(own, entry(sent.at(-1)?.sealed))) as { t: number };
  expect(t).toBe(NOW);
});

describe('where the clock of this machine is set', () => {
  const entry = (sealed: string | undefined) =>
    ({ content: '', content_type: 'text/plain', sealed, source_device_id: 'laptop-1' }) as never;
  /** The service tells its time with each response. Until then the clock of the device is this far from it. */
  async function withClock() {
    const { own, theirs, laptop: writer, sent } = await makePair();
    const clock = { off: 0 };
    const hear = () => void (clock.off = 0);
    const call = async (_: string, { body }: { body: Sent }) => {
      sent.push(body);
      hear();
      return { status: 201, body };
    };
    const calls = { caller: { call }, serverNow: () => NOW + clock.off, trustedNow: () => NOW } as never;
    const rings = { current: async () => (hear(), null) };
    const { store } = await makePerson('any');
    return { own, theirs, writer, sent, clock, texts: makeTexts(calls, { store, taken: memoryTaken(), rings }) };
  }
  test.each([DAY, -DAY])('by %d ms, a clipboard is dated by the time of the service all the same', async (by) => {
    const { own, theirs, sent, clock, texts, writer } = await withClock();
    await texts.setClipboard(own, 'before');
    clock.off = by;
    await texts.setClipboard(own, 'after');
    expect(await writer.openClipboard(theirs, entry(sent.at(-1)?.sealed))).toMatchObject({ text: 'after' });
  });

  test('back by half an hour, a clipboard is newer than the one before it', async () => {
    const { own, theirs, sent, clock, texts, writer } = await withClock();
    clock.off = 1_800_000;
    await texts.setClipboard(own, 'before');
    clock.off = 0;
    await texts.setClipboard(own, 'after');
    for (const { sealed } of sent.slice(-2)) {
      expect(await writer.openClipboard(theirs, entry(sealed))).toMatchObject({ kind: 'opened' });
    }
  });

  test.each([DAY, -DAY])('by %d ms, a genuine clipboard is opened, and one from before an hour is not', async (by) => {
    const { own, theirs, clock, texts, writer, sent } = await withClock();
    const old = await sealClipboard(own, { text: 'old', t: NOW - 3_700_000 });
    await texts.setClipboard(own, 'genuine');
    await writer.setClipboard(own, 'genuine');
    clock.off = by;
    expect(await texts.openClipboard(theirs, entry(sent.at(-1)?.sealed))).toMatchObject({ text: 'genuine' });
    clock.off = by;
    expect(await texts.openClipboard(theirs, entry(old))).toMatchObject({ problem: { code: 'too_old' } });
  });
});

describe('a text that names a newer ring', () => {
  /** The laptop has walked to a third ring, which the service keeps from the phone. */
  async function withheld() {
    const [laptop, phone, guest] = [
      await makePerson('laptop-1'),
      await makePerson('phone-1'),
      await makePerson('guest-1'),
    ];
    const first = await firstRing(laptop);
    const known = [first, await nextRing(first, laptop, { add: [phone.asks] })];
    const third = await nextRing(known[1] as (typeof known)[0], laptop, { add: [(await makePerson('tablet-1')).asks] });
    const { enc, sig } = guest.asks;
    const guests = await signGuests(third, [{ device_id: 'guest-1', enc, sig, until: NOW + 1 }], laptop.signer, NOW);
    const calls = { caller: null as never, serverNow: () => NOW, trustedNow: () => NOW } as unknown as SealingCalls;
    const [ofLaptop, ofPhone] = [await keyringOf(laptop, [...known, third]), await keyringOf(phone, known)];
    const take = () => takeKeys(phone.store, { rings: [], n: 2, guests: null }, NOW);
    return {
      ...{ phone, guest, known, third, guests, ofLaptop, ofPhone, take },
      texts: makeTexts(calls, { store: phone.store, taken: memoryTaken(), rings: NO_RINGS }),
    };
  }

  test('waits, and nothing is sealed before that ring is known, whatever the service says', async () => {
    const { ofLaptop, ofPhone, texts, phone, third, take } = await withheld();
    const sealed = await sealMessage(ofLaptop, { to: 'phone-1', text: 'newer', t: NOW });
    expect(await codeOf(take())).toBe('taken');
    expect(await texts.open(ofPhone, messageOf(sealed))).toMatchObject({
      kind: 'waits',
      problem: { code: 'unknown_key' },
    });
    expect(await codeOf(take())).toBe('devices_disagree');
    const { keyring } = await takeKeys(phone.store, { rings: [third.text], n: 3, guests: null }, NOW);
    expect(await texts.open(keyring, messageOf(sealed))).toMatchObject({ kind: 'opened', text: 'newer' });
    expect(await codeOf(sealMessage(keyring, { to: 'laptop-1', text: 'x', t: NOW }))).toBe('taken');
  });

  test('of a guest, or of a device that is not the one it names, stops nothing', async () => {
    const { guest, guests, known, third, ofLaptop, ofPhone, texts, take } = await withheld();
    const ofGuest = await keyringOf(guest, [...known, third].slice(1), guests);
    const byGuest = await sealMessage(ofGuest, { to: 'phone-1', text: 'x', t: NOW });
    const posing = await sealMessage({ ...ofLaptop, keys: guest.signer.keys }, { to: 'phone-1', text: 'x', t: NOW });
    for (const message of [messageOf(byGuest, { from_device_id: 'guest-1' }), messageOf(posing)])
      expect(await texts.open(ofPhone, message)).toMatchObject({ kind: 'waits', problem: { code: 'unknown_key' } });
    expect(await codeOf(take())).toBe('taken');
  });
});
