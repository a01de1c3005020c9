import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Ring } from '../../../shared/contract/modules/keys.ts';
import type { TestDevice } from '../device.ts';

/** A private key of Node, or a function that signs in its place, in base64url. */
type SigningKey = KeyObject | ((bytes: Uint8Array) => string);

/** A device with its own keys. */
export interface Keyed {
  readonly id: string;
  readonly enc: string;
  readonly sig: string;
  readonly key: SigningKey;
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

function pair(): { key: KeyObject; raw: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const raw = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { key: privateKey, raw: raw.toString('base64url') };
}

/** Makes the keys of a device. */
export function keyed({ id }: Pick<TestDevice, 'id'>): Keyed {
  const [enc, sig] = [pair(), pair()];
  return { id, enc: enc.raw, sig: sig.raw, key: sig.key };
}

/** Returns the list of parts that is signed. It is written from the design, not from the service. */
export function signedBytes(list: readonly (string | Uint8Array)[]): Buffer {
  const all = list.map((part) => Buffer.from(part as string));
  const bytes = Buffer.alloc(all.reduce((sum, part) => sum + 4 + part.length, 0));
  let at = 0;
  for (const part of all) {
    at = bytes.writeUInt32BE(part.length, at);
    at += part.copy(bytes, at);
  }
  return bytes;
}

export const signParts = ({ key }: Pick<Keyed, 'key'>, list: readonly (string | Uint8Array)[]): string =>
  typeof key === 'function'
    ? key(signedBytes(list))
    : sign('sha256', signedBytes(list), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');

export interface Account {
  service: string;
  user: string;
}

/** Signs any bytes as a ring or as a list of guests. */
export function signed(by: Pick<Keyed, 'key'>, { service, user }: Account, label: string, bytes: Uint8Array): string {
  return `${Buffer.from(bytes).toString('base64url')}.${signParts(by, [label, service, user, bytes])}`;
}

/** A ring as it is sent, with what the next ring must state about it. */
export interface MadeRing {
  readonly text: string;
  readonly n: number;
  readonly hash: string;
  readonly ring: Ring;
}

interface RingWishes {
  by: Pick<Keyed, 'key'>;
  members: readonly Keyed[];
  before?: MadeRing | undefined;
  /** Fields that replace those of a right ring, or that are added to it. */
  says?: Record<string, unknown>;
}

/** Makes the next ring of an account. It is right, except for what `says` changes. */
export function makeRing(account: Account, { by, members, before, says = {} }: RingWishes): MadeRing {
  const epoch = (says['epoch'] as number | undefined) ?? before?.ring.epoch ?? 1;
  const ring = {
    v: 1,
    service: account.service,
    user_id: account.user,
    n: (before?.n ?? 0) + 1,
    prev_hash: before?.hash ?? '',
    epoch,
    key_id: sha256(Buffer.from(`id${epoch}`)),
    members: members.map(({ id, enc, sig }) => ({ device_id: id, kind: 'browser', enc, sig, since: 1 })),
    wraps: Object.fromEntries(members.map(({ id }) => [id, Buffer.alloc(114, 2).toString('base64url')])),
    older: '',
    ...says,
  } as Ring;
  const bytes = Buffer.from(JSON.stringify(ring));
  return { text: signed(by, account, 'baton/1 ring', bytes), n: ring.n, hash: sha256(bytes), ring };
}
