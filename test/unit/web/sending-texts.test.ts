import { makeSendingTexts } from '../../../services/web/sealing/sending-texts.ts';
import { sealMessage } from '../../../shared/client/sealed/content/messages.ts';
import type { Keyring } from '../../../shared/client/sealed.ts';
import { signGuests } from '../../../shared/client/sealed/ring/guests.ts';
import { sealingError } from '../../../shared/client/sealing/problem.ts';
import { keysOf } from '../../../shared/client/sealed/keyring.ts';
import { codeOf, firstRing, keyringOf, makePerson } from '../client/sealed/people.ts';

/* A waiting text is sealed once, and again only if its receiver could no longer open it. */

const NOW = Date.now();

async function account() {
  const laptop = await makePerson('laptop-1');
  const ring = await firstRing(laptop);
  const guestOf = async () => {
    const { enc, sig } = (await makePerson('guest-1')).asks;
    return { device_id: 'guest-1', enc, sig, until: NOW + 3_600_000 };
  };
  const first = await keyringOf(laptop, [ring], await signGuests(ring, [await guestOf()], laptop.signer, NOW));
  const known = { keyring: first };
  const history = { settings: { get: async <T>(_: string, without: T) => without, set: async () => {} } } as never;
  const texts = {
    async seal(keyring: Keyring, { to, text }: { to: string; text: string }): Promise<string> {
      if (keysOf(keyring, to, Date.now()) === null) throw sealingError('unkeyed_receiver');
      return sealMessage(keyring, { to, text, t: NOW });
    },
  };
  const ringOf = { current: async () => known.keyring, sealing: () => ({ texts }) as never };
  return { ...makeSendingTexts({ history }, ringOf), known, newGuest: guestOf, first };
}

const waiting = { id: 'i1', kind: 'message', to: 'guest-1', key: 'k1', unknownSince: 1, triedBy: 'laptop-1' } as const;

test('each attempt sends the same, and other keys of the receiver get another envelope', async () => {
  const { seal, known, newGuest, first } = await account();
  const envelope = (await seal(waiting, 'hello')) ?? undefined;
  expect(await seal({ ...waiting, envelope }, 'hello')).toBe(envelope);
  known.keyring = { ...first, guests: [await newGuest()] };
  const again = await seal({ ...waiting, envelope }, 'hello');
  expect(again?.sealed).not.toBe(envelope?.sealed);
  expect(again?.enc).toBe(known.keyring.guests[0]?.enc);
});

test('what was sealed for a guest is not sent to it after its removal', async () => {
  const { seal, known, first } = await account();
  const envelope = (await seal(waiting, 'hello')) ?? undefined;
  known.keyring = { ...first, removedGuests: new Set(['guest-1']) };
  expect(await codeOf(seal({ ...waiting, envelope }, 'hello'))).toBe('unkeyed_receiver');
});
