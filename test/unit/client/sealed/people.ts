import { adoptFirstRing, adoptRing, type Keyring, takeKeys } from '../../../../shared/client/sealed/keyring.ts';
import { publicKeysOf } from '../../../../shared/client/sealed/keys/device-keys.ts';
import { keepDeviceKeys, type KeyStore, memoryKeys } from '../../../../shared/client/sealed/keys/key-store.ts';
import { makeFirstRing, makeNextRing, type RingChange } from '../../../../shared/client/sealed/ring/change.ts';
import { namedHashOf, OtherRing } from '../../../../shared/client/sealed/ring/named-rings.ts';
import { hashOf, type Ring } from '../../../../shared/client/sealed/ring/ring.ts';

export const ACCOUNT = { service: 'https://baton.example', user_id: 'user-1' };
export const NOW = 1_800_000_000_000;

/** A device with keys, and the store that has them. */
export interface Person {
  readonly id: string;
  readonly store: KeyStore;
  readonly signer: Pick<Keyring, 'device_id' | 'keys'>;
  readonly asks: { device_id: string; kind: string; enc: string; sig: string };
}

/** Makes a device that has keys and belongs to no account. */
export async function makePerson(id: string, kind = 'cli'): Promise<Person> {
  const store = memoryKeys();
  const { keys } = await keepDeviceKeys(store);
  return { id, store, signer: { device_id: id, keys }, asks: { device_id: id, kind, ...(await publicKeysOf(keys)) } };
}

export const firstRing = ({ signer }: Person): Promise<Ring> => makeFirstRing(ACCOUNT, { ...signer, kind: 'cli' });

export const nextRing = (before: Ring, by: Person, change: RingChange, now = NOW): Promise<Ring> =>
  makeNextRing(before, by.signer, change, now);

/** Returns what a device knows that pinned the first of these rings and walked on. */
export async function keyringOf(
  { id, store }: Person,
  rings: readonly Ring[],
  guests: string | null = null,
): Promise<Keyring> {
  const [first] = rings;
  if (first === undefined) throw new Error('no ring');
  const account = { ...ACCOUNT, device_id: id };
  const texts = rings.map(({ text }) => text);
  if (first.body.n === 1 && first.body.members[0]?.device_id === id)
    await adoptFirstRing(store, account, first.text, NOW);
  else await adoptRing(store, { account, n: first.body.n, hash: hashOf(first) }, texts, NOW);
  const { keyring } = await takeKeys(store, { rings: texts, n: rings.at(-1)?.body.n ?? 0, guests }, NOW);
  return keyring;
}

/** Makes the error for content of this device that names this ring, or a ring of which only the number is known. */
export const naming = ({ asks }: Person, named: Ring | number): OtherRing =>
  new OtherRing(
    asks.sig,
    typeof named === 'number' ? { n: named, hash: 'A'.repeat(22) } : { n: named.body.n, hash: namedHashOf(named) },
  );

/** Resolves to the code with which an attempt was refused. */
export const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'taken',
    (error: unknown) => {
      const { code, message } = error as { code?: string; message: string };
      return code ?? message;
    },
  );
