import fc from 'fast-check';
import { publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { adoptRing, type Keyring, loadKeyring } from '../../../../shared/client/sealed/keyring.ts';
import { type Asking, openGrant, sealGrant } from '../../../../shared/client/sealed/link/grant.ts';
import {
  checkInvite,
  inviteDigits,
  inviteKeyText,
  inviteSecretIn,
} from '../../../../shared/client/sealed/link/invite.ts';
import {
  checkKeys,
  linkKeyText,
  makeLink,
  makeLinkSecret,
  makeLinkText,
  readLinkCode,
} from '../../../../shared/client/sealed/link/link-code.ts';
import { openMessage, sealMessage } from '../../../../shared/client/sealed/content/messages.ts';
import { randomBytes } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { memberOf, type Ring } from '../../../../shared/client/sealed/ring/ring.ts';
import { ACCOUNT, codeOf, firstRing, keyringOf, makePerson, nextRing, NOW, type Person } from './people.ts';

const ORIGIN = 'https://baton.example';
const IDS = { request_id: 'AAAAAAAAAAAAAAAAAAAAAA', approval_code: 'BBBBBBBBBBBBBBBBBBBBBB' };

async function codeFor({ signer }: Person, secret = makeLinkSecret()) {
  const keys = await publicKeysOf(signer.keys);
  const code = { ...IDS, key: await linkKeyText(keys, secret) };
  return { keys, secret, link: makeLink(ORIGIN, code), text: makeLinkText(code) };
}

const asking = ({ id }: Person, keys: Asking['keys']): Asking => ({ request_id: IDS.request_id, device_id: id, keys });

/** Lets the new device open the grant, and begin with the ring that it names. */
async function take(
  person: Person,
  secret: Awaited<ReturnType<typeof codeFor>>['secret'],
  sealed: string,
  texts: string[],
) {
  const account = { ...ACCOUNT, device_id: person.id };
  const grant = await openGrant(person.signer.keys, { sealed, request_id: IDS.request_id, account, secret });
  return { grant, keyring: await adoptRing(person.store, grant, texts, NOW) };
}

async function approver() {
  const a = await makePerson('device-a');
  const first = await firstRing(a);
  return { a, first, ofA: await keyringOf(a, [first]) };
}

const after = (keyring: Keyring, ring: Ring): Keyring => ({ ...keyring, ring, rings: [...keyring.rings, ring] });

test('a device shows a code, is let in, and reads what the approver seals', async () => {
  const [{ a, first, ofA }, b] = [await approver(), await makePerson('device-b')];
  const shown = await codeFor(b);
  const read = readLinkCode(shown.link, [ORIGIN]);
  expect(read).toEqual(readLinkCode(shown.text, [ORIGIN]));
  if (read.key === null) throw new Error('no key');
  await checkKeys(shown.keys, read.key);

  const second = await nextRing(first, a, { add: [b.asks] });
  const { sealed, checkCode } = await sealGrant(after(ofA, second), asking(b, shown.keys), read.key.secret);
  const { grant, keyring } = await take(b, shown.secret, sealed, [second.text]);

  expect(shown.link).toMatch(/^https:\/\/baton\.example\/link\?r=A{22}&c=B{22}#k=1\.[\w-]{43}$/);
  expect(checkCode).toMatch(/^\d{4}$/);
  expect(grant).toMatchObject({ checkCode, approver: 'device-a', n: 2 });
  expect(memberOf(keyring.ring, grant.approver)).not.toBeNull();
  const message = await sealMessage(after(ofA, second), { to: 'device-b', text: 'welcome', t: NOW });
  const loaded = await loadKeyring(b.store, NOW);
  expect((await openMessage(loaded, { sealed: message, from: 'device-a', to: 'device-b' })).text).toBe('welcome');
});

// Proves G37.
test('other keys than those of the code are found before anything is sealed', async () => {
  const [b, evil] = [await makePerson('device-b'), await makePerson('device-b')];
  const { text } = await codeFor(b);
  const { key } = readLinkCode(text, []);
  if (key === null) throw new Error('no key');
  const { enc, sig } = await publicKeysOf(evil.signer.keys);
  const own = await publicKeysOf(b.signer.keys);
  for (const keys of [
    { enc, sig },
    { ...own, enc },
    { ...own, sig },
    { enc: own.sig, sig: own.enc },
    { ...own, sig: 'A' },
  ]) {
    expect(await codeOf(checkKeys(keys, key))).toBe('other_keys');
  }
});

// Proves G37.
test('a grant opens with the secret of its code, for its request, account and device alone', async () => {
  const [{ a, first, ofA }, b, evil] = [await approver(), await makePerson('device-b'), await makePerson('device-b')];
  const { keys, secret } = await codeFor(b);
  const second = await nextRing(first, a, { add: [b.asks] });
  const { sealed } = await sealGrant(after(ofA, second), asking(b, keys), secret);
  const account = { ...ACCOUNT, device_id: 'device-b' };
  const right = { sealed, request_id: IDS.request_id, account, secret };
  const open = (says: Partial<typeof right>, by = b) => codeOf(openGrant(by.signer.keys, { ...right, ...says }));

  expect(await open({})).toBe('taken');
  expect(await open({ secret: randomBytes(16) })).toBe('bad_grant');
  expect(await open({ request_id: 'CCCCCCCCCCCCCCCCCCCCCC' })).toBe('bad_grant');
  expect(await open({ account: { ...account, user_id: 'user-2' } })).toBe('bad_grant');
  expect(await open({ account: { ...account, service: 'other' } })).toBe('bad_grant');
  expect(await open({ account: { ...account, device_id: 'device-c' } })).toBe('bad_grant');
  expect(await open({ sealed: sealed.slice(0, -2) })).toBe('bad_grant');
  expect(await open({ sealed: '' })).toBe('bad_grant');
  expect(await open({}, evil)).toBe('bad_grant');
});

// Proves G37.
test('the ring has to be the one that the grant names, or one that follows', async () => {
  const [{ a, first, ofA }, b] = [await approver(), await makePerson('device-b')];
  const { keys, secret } = await codeFor(b);
  const second = await nextRing(first, a, { add: [b.asks] });
  const fork = await nextRing(first, a, { add: [b.asks] });
  const third = await nextRing(second, a, { add: [(await makePerson('device-c')).asks] });
  const onFork = await nextRing(fork, a, { add: [(await makePerson('device-c')).asks] });
  const { sealed } = await sealGrant(after(ofA, second), asking(b, keys), secret);
  const pin = async (...rings: Ring[]) =>
    codeOf(
      take(
        b,
        secret,
        sealed,
        rings.map(({ text }) => text),
      ),
    );

  expect(await pin(second)).toBe('taken');
  expect(await pin(first, second, third)).toBe('taken');
  expect(await pin(fork)).toBe('devices_disagree');
  expect(await pin(second, onFork)).toBe('devices_disagree');
  expect(await pin(third)).toBe('link_again');
  expect(await pin()).toBe('link_again');
});

// Proves G37.
test('two devices that are let in at once: the one whose ring was late is put on the newer ring', async () => {
  const [{ a, first, ofA }, b, c] = [await approver(), await makePerson('device-b'), await makePerson('device-c')];
  const withB = await nextRing(first, a, { add: [b.asks] });
  // The service answers 409 to the other put, which is made again after the ring in force.
  const withBoth = await nextRing(withB, a, { add: [c.asks] });
  const shown = await codeFor(c);
  const { sealed } = await sealGrant(after(after(ofA, withB), withBoth), asking(c, shown.keys), shown.secret);
  const { keyring } = await take(c, shown.secret, sealed, [withBoth.text]);
  expect(keyring.ring.body.members.map(({ device_id }) => device_id)).toEqual(['device-a', 'device-b', 'device-c']);
});

test('only an origin of the service, and exactly the pattern, is taken', async () => {
  const { link, text } = await codeFor(await makePerson('device-b'));
  const read = (given: string, origins = [ORIGIN]) =>
    codeOf(Promise.resolve().then(() => readLinkCode(given, origins)));

  expect(await read(link)).toBe('taken');
  expect(await read(link, ['https://other.example'])).toBe('other_origin');
  expect(await read(link.replace('baton.example', 'baton.example.evil'))).toBe('other_origin');
  expect(await read(link.replace('https://', 'https://user@'))).toBe('other_origin');
  expect(readLinkCode(link.replace(/#.*/, ''), [ORIGIN]).key).toBeNull();
  for (const odd of [
    ...[link.replace('#k=1.', '#k=1.EVIL#k=1.'), link.replace('#k=1.', '#k=2.'), `${link}A`, link.slice(0, -1)],
    ...[link.replace('/link', '/links'), link.replace('&c=', '&x=1&c='), `${text}.x`, text.slice(1), '', 'hello'],
    ...[link.replace('?r=', '?r=1'), `x${link}`],
  ]) {
    expect(`${odd}: ${await read(odd)}`).toMatch(/: (bad_code|other_origin)$/);
  }
});

test('nothing that a service answers gets into a link unless it is an id', async () => {
  const key = await linkKeyText((await makePerson('device-b')).asks, makeLinkSecret());
  const idOrNot = fc.oneof(
    fc.constant(IDS.request_id),
    fc.string({ maxLength: 30 }),
    fc.constant(`${IDS.request_id}#k=1.EVIL`),
  );
  fc.assert(
    fc.property(idOrNot, idOrNot, (request_id, approval_code) => {
      const areIds = [request_id, approval_code].every((each) => /^[A-Za-z0-9_-]{22}$/.test(each));
      const make = () => makeLink(ORIGIN, { request_id, approval_code, key });
      if (areIds) expect(readLinkCode(make(), [ORIGIN])).toMatchObject({ request_id, approval_code });
      else expect(make).toThrow(/code/);
    }),
  );
  for (const origin of ['https://baton.example/', 'https://baton.example/path', 'nonsense', '']) {
    expect(() => makeLink(origin, { ...IDS, key })).toThrow(/another service/);
  }
});

describe('an invite', () => {
  // Proves G37.
  test('the digits are typed, and three wrong tries end it', async () => {
    const [secret, b] = [makeLinkSecret(), await makePerson('device-b')];
    const keys = await publicKeysOf(b.signer.keys);
    const digits = await inviteDigits(inviteSecretIn(inviteKeyText(secret)), keys, IDS.request_id);
    const wrong = digits === '000000' ? '000001' : '000000';
    const check = checkInvite(secret, keys, IDS.request_id);

    expect(digits).toMatch(/^\d{6}$/);
    expect(await codeOf(check.type(`${digits.slice(0, 3)} ${digits.slice(3)}`))).toBe('taken');
    expect(await codeOf(check.type(wrong))).toBe('wrong_digits');
    expect(await codeOf(check.type(''))).toBe('wrong_digits');
    expect(check.triesLeft).toBe(1);
    expect(await codeOf(check.type(wrong))).toBe('invite_over');
    expect(await codeOf(check.type(digits))).toBe('invite_over');
    // Tries at the same time count too.
    const other = checkInvite(secret, keys, IDS.request_id);
    const codes = await Promise.all([wrong, wrong, wrong, digits].map((typed) => codeOf(other.type(typed))));
    expect(codes[3]).toBe('invite_over');
  });

  test('other keys, another request and another secret give other digits', async () => {
    const [secret, b, c] = [makeLinkSecret(), await makePerson('device-b'), await makePerson('device-b')];
    const [keys, others] = await Promise.all([publicKeysOf(b.signer.keys), publicKeysOf(c.signer.keys)]);
    const all = await Promise.all([
      inviteDigits(secret, keys, IDS.request_id),
      inviteDigits(secret, others, IDS.request_id),
      inviteDigits(secret, keys, IDS.approval_code),
      inviteDigits(makeLinkSecret(), keys, IDS.request_id),
    ]);
    // By chance one in a million of these runs has two equal ones.
    expect(new Set(all).size).toBeGreaterThan(2);
  });

  test.each(['', '1.', '1.AAAA', `2.${'A'.repeat(22)}`, `1.${'A'.repeat(23)}`, `1.${'_'.repeat(22)}`])(
    'its code %j is refused',
    async (text) => expect(await codeOf(Promise.resolve().then(() => inviteSecretIn(text)))).toBe('bad_code'),
  );
});
