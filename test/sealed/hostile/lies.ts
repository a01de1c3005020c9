import { type Chance, spoilt } from './chance.ts';
import type { AccountName, Attacker } from './attacker.ts';
import type { HostileServer } from './hostile-server.ts';
import type { KeysBody } from './passed.ts';

export interface LiarParts {
  readonly chance: Chance;
  readonly attacker: Attacker;
  readonly account: AccountName;
}

export const numberOf = (ring: string): number =>
  (JSON.parse(Buffer.from(ring.split('.')[0] ?? '', 'base64url').toString()) as { n: number }).n;

const hasSigner = (ring: string, sig: string): boolean =>
  Buffer.from(ring.split('.')[0] ?? '', 'base64url')
    .toString()
    .includes(`"sig":"${sig}"`);

/** Changes a list of rings as a server could that wants a device to take another list. */
export async function spoiltKeys(
  body: KeysBody,
  after: number,
  parts: LiarParts,
  server: HostileServer,
): Promise<KeysBody> {
  const { chance, attacker, account } = parts;
  const newest = server.rings.toReversed().find((ring) => numberOf(ring) === Math.max(after, body.n));
  const last = body.rings.at(-1) ?? newest;
  const forged = async (signer = attacker.keys) => {
    if (last === undefined) return body;
    const ring = await attacker.ringAfter(last, account, signer);
    return { ...body, rings: [...body.rings, ring], n: numberOf(ring) };
  };
  switch (
    chance.pick(['withhold', 'back', 'cut', 'reversed', 'forged', 'removed', 'bit', 'promise', 'fork', 'skip', 'guest'])
  ) {
    case 'withhold':
      return { ...body, rings: [], n: after };
    case 'back':
      return { ...body, rings: [], n: Math.max(0, after - 1 - chance.below(2)) };
    case 'cut':
      return { ...body, rings: body.rings.slice(0, -1), n: Math.max(after, body.n - 1) };
    case 'reversed':
      return { ...body, rings: body.rings.toReversed() };
    case 'removed': {
      // If the newest ring still has the removed device, that device may sign the next one.
      const signer = last === undefined || hasSigner(last, server.removedSig) ? null : server.removedSigner;
      return forged(signer === null ? attacker.keys : { ...attacker.keys, sig: signer });
    }
    case 'bit':
      return {
        ...body,
        rings: body.rings.map((ring) =>
          ring
            .split('.')
            .map((part) => spoilt(part, chance))
            .join('.'),
        ),
      };
    case 'promise':
      return { ...body, n: body.n + 3 };
    case 'fork': {
      const others = server.rings.filter((ring) => numberOf(ring) > after);
      return { ...body, rings: others.slice(-8), n: Math.max(after, ...others.map(numberOf)) };
    }
    case 'skip': {
      const others = server.rings.filter((ring) => numberOf(ring) === after + 1 && !body.rings.includes(ring));
      return { ...body, rings: [...others, ...body.rings.slice(1)] };
    }
    case 'guest':
      return server.guestSigners.length === 0 ? body : forged(chance.pick(server.guestSigners));
    default:
      return forged();
  }
}

/** Shows a list of guests that is not the newest one: an older one, a spoilt one, none, or one that no member signed. */
async function otherList(
  { chance, server }: { chance: Chance; server: HostileServer },
  {
    own,
    forged,
    isMember,
  }: { own: string | null; forged: (signer?: CryptoKeyPair) => Promise<string | null>; isMember: boolean },
): Promise<string | null> {
  switch (chance.pick(['older', 'older', 'older', 'none', 'bit', 'attacker', 'guest', 'removed'])) {
    case 'older':
      return server.lists.length === 0 ? own : chance.pick(server.lists);
    case 'bit': {
      const [bytes = '', signature = ''] = (own ?? '').split('.');
      return own === null ? null : `${bytes.slice(0, -2)}${bytes.endsWith('Q') ? 'g' : 'Q'}.${signature}`;
    }
    case 'attacker':
      return forged();
    case 'guest':
      return server.guestSigners.length === 0 ? own : forged(chance.pick(server.guestSigners).sig);
    case 'removed':
      return server.removedSigner === null || isMember ? own : forged(server.removedSigner);
    default:
      return null;
  }
}

/** Shows another list of guests than the newest, now and then. */
export async function spoiltGuests(body: KeysBody, parts: LiarParts, server: HostileServer): Promise<KeysBody> {
  const { chance, attacker, account } = parts;
  const last = body.rings.at(-1) ?? server.rings.at(-1);
  if (last === undefined || chance.is(0.7)) return body;
  const forged = (signer?: CryptoKeyPair) => attacker.guestsAt(last, account, signer);
  // If the newest ring still has the removed device, that device may sign a list.
  const isMember = hasSigner(last, server.removedSig);
  return { ...body, guests: await otherList({ chance, server }, { own: body.guests, forged, isMember }) };
}
