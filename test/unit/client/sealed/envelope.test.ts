import { epochIn, sealUnder } from '../../../../shared/client/sealed/content/envelope.ts';
import { contentKey, type Keyring } from '../../../../shared/client/sealed/keyring.ts';
import { type Bytes, concat, toBase64url } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { openMessage } from '../../../../shared/client/sealed/content/messages.ts';
import { codeOf, firstRing, keyringOf, makePerson, nextRing } from './people.ts';

/** The least that an envelope has: `01`, an epoch, a nonce of 12 bytes and a tag of 16 (sealed.md, "Envelopes"). */
const LEAST_BYTES = 1 + 4 + 12 + 16;

let keyring: Keyring;
beforeAll(async () => {
  const [a, b] = await Promise.all([makePerson('device-a'), makePerson('device-b')]);
  const first = await firstRing(a);
  keyring = await keyringOf(a, [first, await nextRing(first, a, { add: [b.asks] })]);
});

const epochOf = (envelope: Bytes) => codeOf(new Promise((resolve) => resolve(epochIn(envelope))));

test('an envelope that is shorter than its parts opens nowhere, whatever its length', async () => {
  for (let length = 1; length < LEAST_BYTES; length++) {
    const envelope = concat(Uint8Array.of(1), new Uint8Array(length - 1));
    expect(await epochOf(envelope)).toBe('cannot_open');
    const sealed = toBase64url(envelope);
    expect(await codeOf(openMessage(keyring, { sealed, from: 'device-b', to: '*' }))).toBe('cannot_open');
  }
});

test('the shortest envelope has its epoch', async () => {
  const key = await contentKey(keyring, keyring.ring.body.epoch, 'msg');
  const envelope = await sealUnder(key, 70_000, new Uint8Array(), new Uint8Array());
  expect(envelope).toHaveLength(LEAST_BYTES);
  expect(epochIn(envelope)).toBe(70_000);
});

test('an envelope of a device has no epoch of the account', async () => {
  const envelope = concat(Uint8Array.of(2), new Uint8Array(LEAST_BYTES));
  expect(await epochOf(envelope)).toBe('cannot_open');
});
