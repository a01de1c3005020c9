import { makeBody } from '../../../../shared/client/sealed/content/body.ts';
import { contentKey, loadKeyring, noteRemoved, noteSeen, takeKeys } from '../../../../shared/client/sealed/keyring.ts';
import { openClipboard, sealClipboard } from '../../../../shared/client/sealed/content/clipboard.ts';
import { sealForAccount, sealUnder } from '../../../../shared/client/sealed/content/envelope.ts';
import { openMessage, sealMessage } from '../../../../shared/client/sealed/content/messages.ts';
import { openSignal, sealSignal } from '../../../../shared/client/sealed/content/signals.ts';
import { openTransfer, sealTransfer } from '../../../../shared/client/sealed/content/transfers.ts';
import { aesKey, aesSeal } from '../../../../shared/client/sealed/primitives/aes.ts';
import {
  concat,
  fromBase64url,
  randomBytes,
  toBase64url,
  u32,
  utf8,
} from '../../../../shared/client/sealed/primitives/bytes.ts';
import { sha256 } from '../../../../shared/client/sealed/primitives/hkdf.ts';
import { parts } from '../../../../shared/client/sealed/primitives/parts.ts';
import { signGuests } from '../../../../shared/client/sealed/ring/guests.ts';
import { codeOf, firstRing, keyringOf, makePerson, naming, nextRing, NOW } from './people.ts';

async function account() {
  const [a, b, guest] = await Promise.all([makePerson('device-a'), makePerson('device-b'), makePerson('guest-1')]);
  const first = await firstRing(a);
  const second = await nextRing(first, a, { add: [b.asks] });
  const { enc, sig } = guest.asks;
  const guests = await signGuests(second, [{ device_id: 'guest-1', enc, sig, until: NOW + 1 }], a.signer, NOW);
  const [ofA, ofB] = [await keyringOf(a, [first, second], guests), await keyringOf(b, [second], guests)];
  return { a, b, guest, first, second, ofA, ofB, ofGuest: await keyringOf(guest, [second], guests) };
}
let made: Awaited<ReturnType<typeof account>>;
beforeAll(async () => {
  made = await account();
});

const length = (sealed: string) => fromBase64url(sealed)?.length;
/** Returns the same content with one changed bit in this byte. */
function changed(sealed: string, at: number): string {
  const bytes = fromBase64url(sealed) ?? new Uint8Array();
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return toBase64url(bytes);
}

type Known = typeof made.ofA;

/** Seals a clipboard like a member whose program neither checks nor cleans anything. */
async function clipboardOf(by: Known, text: string): Promise<string> {
  const letter = { label: 'baton/1 clip', from: by.device_id, target: '' };
  const about = [by.account.service, by.account.user_id, letter.from, letter.target];
  const { epoch } = by.ring.body;
  const [secret, nonce] = [randomBytes(32), randomBytes(12)];
  const info = parts(['baton/1 clip key', ...about, u32(epoch)]);
  const wraps = concat(nonce, await aesSeal(await contentKey(by, epoch, 'clip'), nonce, info, secret));
  const aad = parts([letter.label, ...about, u32(epoch), await sha256(wraps)]);
  const body = await makeBody(by, letter, { content: utf8(text), t: NOW });
  return toBase64url(concat(await sealUnder(await aesKey(secret), epoch, aad, body), wraps, u32(wraps.length)));
}

describe('messages', () => {
  test.each([
    ['', 153],
    ['a', 153],
    ['\n'.repeat(4_096), 4_385],
    ['"'.repeat(4_096), 4_385],
    ['é'.repeat(2_048), 4_385],
  ])('%j is sealed and opened', async (text, most) => {
    const { ofA, ofB } = made;
    const sealed = await sealMessage(ofA, { to: 'device-b', text, t: NOW });
    const opened = await openMessage(ofB, { sealed, from: 'device-a', to: 'device-b' });

    expect(length(sealed)).toBe(most);
    expect(opened).toEqual({
      ...{ id: expect.stringMatching(/^[\w-]{22}$/) as string, t: NOW, n: 2, epoch: 1, text },
      sender: { device_id: 'device-a', kind: 'cli', isRemoved: false },
    });
  });

  test('to all, and to and from a guest', async () => {
    const { ofA, ofB, ofGuest } = made;
    const toAll = await sealMessage(ofA, { to: '*', text: 'all', t: NOW });
    const toGuest = await sealMessage(ofA, { to: 'guest-1', text: 'guest', t: NOW });
    const fromGuest = await sealMessage(ofGuest, { to: 'device-b', text: 'back', t: NOW });

    expect((await openMessage(ofB, { sealed: toAll, from: 'device-a', to: '*' })).text).toBe('all');
    expect(await codeOf(openMessage(ofGuest, { sealed: toAll, from: 'device-a', to: '*' }))).toBe('not_a_member');
    expect((await openMessage(ofGuest, { sealed: toGuest, from: 'device-a', to: 'guest-1' })).text).toBe('guest');
    expect(await codeOf(openMessage(ofB, { sealed: toGuest, from: 'device-a', to: 'guest-1' }))).toBe('cannot_open');
    expect(await openMessage(ofB, { sealed: fromGuest, from: 'guest-1', to: 'device-b' })).toMatchObject({
      ...{ text: 'back', sender: { kind: 'guest' } },
    });
    expect(await codeOf(sealMessage(ofGuest, { to: '*', text: 'all', t: NOW }))).toBe('not_a_member');
  });

  test('another sender, another target, a changed byte and a cut end are refused', async () => {
    const { ofA, ofB } = made;
    const sealed = await sealMessage(ofA, { to: 'device-b', text: 'secret', t: NOW });
    const open = (said: Partial<{ sealed: string; from: string; to: string }>) =>
      codeOf(openMessage(ofB, { sealed, from: 'device-a', to: 'device-b', ...said }));

    expect(await open({})).toBe('taken');
    expect(await open({ from: 'device-b' })).toBe('cannot_open');
    expect(await open({ to: '*' })).toBe('cannot_open');
    expect(await open({ sealed: toBase64url((fromBase64url(sealed) ?? new Uint8Array()).slice(0, -4)) })).toBe(
      'cannot_open',
    );
    expect(await open({ sealed: '' })).toBe('not_sealed');
    expect(await open({ sealed: 'no base64!' })).toBe('not_sealed');
    const codes = new Set<string>();
    for (let at = 0; at < (length(sealed) ?? 0); at++) codes.add(await open({ sealed: changed(sealed, at) }));
    expect([...codes].sort()).toEqual(['cannot_open', 'key_retired', 'newer_version', 'unknown_key']);
  });

  test('whoever has the account key writes as itself alone', async () => {
    const { ofA, ofB } = made;
    const posing = { ...ofB, device_id: 'device-a' };
    const sealed = await sealMessage(posing, { to: 'device-b', text: 'forged', t: NOW });
    expect(await codeOf(openMessage(ofB, { sealed, from: 'device-a', to: 'device-b' }))).toBe('wrong_signer');
    // A guest pretends to be another device, with an envelope that needs no account key.
    const guest = { ...made.ofGuest, device_id: 'device-a' };
    const toB = await sealMessage(guest, { to: 'device-b', text: 'forged', t: NOW });
    expect(await codeOf(openMessage(ofB, { sealed: toB, from: 'device-a', to: 'device-b' }))).toBe('wrong_signer');
    expect(await codeOf(openMessage(ofA, { sealed: toB, from: 'stranger', to: 'device-b' }))).toBe('cannot_open');
  });

  test('4,096 bytes are the most', async () => {
    expect(await codeOf(sealMessage(made.ofA, { to: '*', text: `${'é'.repeat(2_048)}a`, t: NOW }))).toBe('too_long');
  });

  test('a longer text of a member is not shown', async () => {
    const letter = { label: 'baton/1 msg', from: 'device-a', target: 'device-b' };
    const open = async (size: number) => {
      const body = await makeBody(made.ofA, letter, { content: utf8('a'.repeat(size)), t: NOW });
      const sealed = toBase64url(await sealForAccount(made.ofA, letter, 'msg', body));
      return codeOf(openMessage(made.ofB, { sealed, from: 'device-a', to: 'device-b' }));
    };
    expect(await open(4_096)).toBe('taken');
    expect(await open(4_097)).toBe('cannot_open');
  });

  test('a text under another key than that of the ring it names is refused', async () => {
    const { a, b, ofA, second } = made;
    const rotated = await nextRing(second, a, { rotate: true });
    const [fromA, ofB] = [{ ...ofA, rings: [...ofA.rings, rotated], ring: rotated }, await keyringOf(b, [rotated])];
    const newest = ofB.accountKeys[0];
    if (newest === undefined) throw new Error('no key');
    const letter = { label: 'baton/1 msg', from: 'device-a', target: 'device-b' };
    const body = await makeBody(fromA, letter, { content: utf8('a'), t: NOW });
    const open = async (by: Known) => {
      const sealed = toBase64url(await sealForAccount(by, letter, 'msg', body));
      return codeOf(openMessage(ofB, { sealed, from: 'device-a', to: 'device-b' }));
    };
    expect(await open({ ...fromA, accountKeys: [newest] })).toBe('taken');
    expect(await open({ ...fromA, ring: second })).toBe('cannot_open');
  });

  test('nothing is sealed under an old ring, nor while a removed device has the key', async () => {
    const { a, ofA, ofB, second } = made;
    const seal = (keyring: typeof ofA) => codeOf(sealMessage(keyring, { to: 'device-a', text: 'a', t: NOW }));
    const without = await nextRing(second, a, { remove: ['device-b'] });
    const rotated = { ...ofA, rings: [...ofA.rings, without], ring: without };

    expect(await seal(await noteSeen(made.b.store, ofB, naming(a, 3)))).toBe('unknown_key');
    expect(await seal(await noteRemoved(a.store, ofA, 'device-x'))).toBe('taken');
    expect(await seal(await noteRemoved(a.store, ofA, 'device-b'))).toBe('rotation_due');
    // A program that starts later knows it too, until there is a ring without the device.
    expect(await seal(await loadKeyring(a.store, NOW))).toBe('rotation_due');
    const { keyring } = await takeKeys(a.store, { rings: [without.text], n: 3, guests: null }, NOW);
    expect([...keyring.removed]).toEqual([]);
    // The other device was in no ring: it may be a guest, or a member of a later ring.
    expect([...(keyring.removedGuests ?? [])]).toContain('device-x');
    expect(await seal(keyring)).toBe('taken');
    // Messages that the device wrote before its removal are still shown as its own, and marked as from a removed
    // device.
    const sealed = await sealMessage(ofB, { to: 'device-a', text: 'before', t: NOW });
    expect(await openMessage(rotated, { sealed, from: 'device-b', to: 'device-a' })).toMatchObject({
      sender: { device_id: 'device-b', isRemoved: true },
    });
    // Content for this device alone opens without a key of the account, but still ends with that key.
    const late = await loadKeyring(a.store, NOW + 9 * 86_400_000);
    const alone = await sealMessage({ ...ofB, accountKeys: [] }, { to: 'device-a', text: 'late', t: NOW });
    expect(await codeOf(openMessage(late, { sealed: alone, from: 'device-b', to: 'device-a' }))).toBe('key_retired');
    const files = { to: 'device-a', files: [{ name: 'a', type: '', size: 1 }], t: NOW };
    const { sealed: offer } = await sealTransfer(ofB, files);
    expect(await codeOf(openTransfer(late, { sealed: offer, from: 'device-b' }))).toBe('key_retired');
  });

  test('nothing is sealed under a ring that came after the removal of a device in it', async () => {
    const [{ a, ofA, second }, c] = [await account(), await makePerson('device-c')];
    await noteRemoved(a.store, ofA, 'device-c');
    await takeKeys(a.store, { rings: [], n: 2, guests: null }, NOW);
    const third = await nextRing(second, a, { add: [c.asks] });
    const { keyring } = await takeKeys(a.store, { rings: [third.text], n: 3, guests: null }, NOW);
    expect(await codeOf(sealMessage(keyring, { to: '*', text: 'a', t: NOW }))).toBe('rotation_due');
    const fourth = await nextRing(third, a, { remove: ['device-c'] });
    const taken = await takeKeys(a.store, { rings: [fourth.text], n: 4, guests: null }, NOW);
    expect([...taken.keyring.removed]).toEqual([]);
  });

  test('a message under a ring that is not known waits, and one of another chain stops everything', async () => {
    const { a, b, first, ofA, ofB, second } = made;
    const later = await nextRing(second, a, { add: [(await makePerson('device-c')).asks] });
    const newer = { ...ofA, rings: [...ofA.rings, later], ring: later };
    const sealed = await sealMessage(newer, { to: 'device-b', text: 'later', t: NOW });
    expect(await codeOf(openMessage(ofB, { sealed, from: 'device-a', to: 'device-b' }))).toBe('unknown_key');

    const fork = await nextRing(first, a, { add: [b.asks, (await makePerson('device-d')).asks] });
    const onFork = await sealMessage({ ...ofA, ring: fork }, { to: 'device-b', text: 'fork', t: NOW });
    expect(await codeOf(openMessage(ofB, { sealed: onFork, from: 'device-a', to: 'device-b' }))).toBe(
      'devices_disagree',
    );
  });
});

describe('clipboard', () => {
  test('a member opens what another one wrote, and a guest neither reads nor writes it', async () => {
    const { ofA, ofB, ofGuest } = made;
    const byA = await sealClipboard(ofA, { text: 'a\u0000\tb\r\n', t: NOW });
    const open = async (keyring: typeof ofA, sealed: string, from: string) =>
      (await openClipboard(keyring, { sealed, from, now: NOW })).text;

    expect(await open(ofB, byA, 'device-a')).toBe('a\tb\r\n');
    expect(await codeOf(open(ofGuest, byA, 'device-a'))).toBe('cannot_open');
    expect(await codeOf(sealClipboard(ofGuest, { text: 'guest', t: NOW }))).toBe('not_a_member');
    expect(await codeOf(open(ofB, byA, 'guest-1'))).toBe('cannot_open');
  });

  test('65,536 bytes become 67,617, and a wrap', async () => {
    const sealed = await sealClipboard(made.ofA, { text: '\n'.repeat(65_536), t: NOW });
    expect(length(sealed)).toBe(67_617 + 60 + 4);
    expect((await openClipboard(made.ofB, { sealed, from: 'device-a', now: NOW })).text).toHaveLength(65_536);
    expect(await codeOf(sealClipboard(made.ofA, { text: 'a'.repeat(65_537), t: NOW }))).toBe('too_long');
  });

  test('control characters are left out by whoever copies, and by whoever pastes', async () => {
    const read = async (sealed: string) => (await openClipboard(made.ofB, { sealed, from: 'device-a', now: NOW })).text;
    expect(await read(await clipboardOf(made.ofA, 'a\u0000\tb\r\n\u001b[2J'))).toBe('a\tb\r\n[2J');
    const [clean, controls] = ['a'.repeat(65_536), '\u0000'.repeat(9)];
    expect(await read(await sealClipboard(made.ofA, { text: clean + controls, t: NOW }))).toBe(clean);
  });

  test('a longer clipboard of a member is not taken', async () => {
    const open = async (size: number) => {
      const sealed = await clipboardOf(made.ofA, 'a'.repeat(size));
      return codeOf(openClipboard(made.ofB, { sealed, from: 'device-a', now: NOW }));
    };
    expect(await open(65_536)).toBe('taken');
    expect(await open(65_537)).toBe('cannot_open');
  });

  test('what is old, and what was changed, is refused', async () => {
    const { ofA, ofB } = made;
    const sealed = await sealClipboard(ofA, { text: 'text', t: NOW });
    const open = (said: object) => codeOf(openClipboard(ofB, { sealed, from: 'device-a', now: NOW, ...said }));

    expect(await open({ newest: NOW })).toBe('taken');
    expect(await open({ newest: NOW + 1 })).toBe('too_old');
    expect(await open({ now: NOW + 3_600_001 })).toBe('too_old');
    expect(await open({ now: NOW - 3_600_001 })).toBe('too_old');
    const codes = new Set<string>();
    for (let at = 1; at < (length(sealed) ?? 0); at++) codes.add(await open({ sealed: changed(sealed, at) }));
    expect(codes.has('taken')).toBe(false);
    for (let end = 0; end < sealed.length; end += 7)
      expect(await open({ sealed: sealed.slice(0, end) })).not.toBe('taken');
  });
});

describe('transfers', () => {
  const files = [
    { name: 'Ferien/überall 日本.jpg', type: 'image/jpeg', size: 0 },
    { name: 'film.mkv', type: '', size: 2 ** 40 },
  ];
  test('a description is for its receiver alone, and says who sent it', async () => {
    const { ofA, ofB, ofGuest } = made;
    const { sealed, key } = await sealTransfer(ofA, { to: 'device-b', files, t: NOW });
    const opened = await openTransfer(ofB, { sealed, from: 'device-a' });

    expect(opened).toMatchObject({ files, sender: { device_id: 'device-a' } });
    expect(opened.key).toEqual(key);
    expect(await codeOf(openTransfer(ofGuest, { sealed, from: 'device-a' }))).toBe('cannot_open');
    expect(await codeOf(openTransfer(ofB, { sealed, from: 'guest-1' }))).toBe('cannot_open');
    const many = Array.from({ length: 3_000 }, (_, i) => ({ name: `${'x'.repeat(200)}${i}`, type: '', size: 1 }));
    expect(await codeOf(sealTransfer(ofA, { to: 'device-b', files: many, t: NOW }))).toBe('too_long');
  });

  test('a description under the key of the account, which other members have, is not taken', async () => {
    const letter = { label: 'baton/1 transfer', from: 'device-a', target: 'device-b' };
    const content = utf8(JSON.stringify({ key: toBase64url(randomBytes(32)), files }));
    const body = await makeBody(made.ofA, letter, { content, t: NOW });
    const sealed = toBase64url(await sealForAccount(made.ofA, letter, 'msg', body));
    expect(await codeOf(openTransfer(made.ofB, { sealed, from: 'device-a' }))).toBe('cannot_open');
  });

  test('a signal is of one device and one transfer', async () => {
    const [key, path] = [randomBytes(32), { transferId: 'transfer-1', from: 'device-a' }];
    const sealed = await sealSignal(key, path, 'v=0');
    expect(await openSignal(key, path, sealed)).toBe('v=0');
    expect(await codeOf(openSignal(key, { ...path, from: 'device-b' }, sealed))).toBe('cannot_open');
    expect(await codeOf(openSignal(key, { ...path, transferId: 'transfer-2' }, sealed))).toBe('cannot_open');
    expect(await codeOf(openSignal(randomBytes(32), path, sealed))).toBe('cannot_open');
    expect(await codeOf(openSignal(key, path, sealed.slice(0, 8)))).toBe('cannot_open');
  });
});
