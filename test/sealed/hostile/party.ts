import { createHash, createPublicKey, verify } from 'node:crypto';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { memoryKeys } from '../../../shared/client/sealed/keys/key-store.ts';
import type { RingBody } from '../../../shared/client/sealed/ring/ring.ts';
import type { KeptGrant, Sealing, SealingStores } from '../../../shared/client/sealing/api.ts';
import { makeSealing } from '../../../shared/client/sealing/sealing.ts';
import { memoryTaken } from '../../../shared/client/sealing/taken.ts';
import { memorySession } from '../../../shared/client/session/session.ts';
import { signedBytes } from '../../support/sealed/keyring.ts';
import type { TestDevice } from '../../support/device.ts';
import type { AccountName } from './attacker.ts';
import type { HostileServer } from './hostile-server.ts';

/** A device with keys, behind the hostile server. */
export interface Party {
  readonly device: TestDevice;
  readonly id: string;
  readonly stores: SealingStores;
  sealing: Sealing;
  /** The keyring that it had when it looked last. */
  keyring: Keyring | null;
  /** Begins again with what it has stored, as a page does that is loaded again. */
  restart(): void;
  /** The hashes of the rings that it has had, by number. */
  readonly heads: Map<number, string>;
  /** The texts that it has shown. */
  readonly shown: Set<string>;
  /** The place, among all acts, of the newest clipboard that it has shown from each device. */
  readonly clipboards: Map<string, number>;
  /** The newest ring that genuine content has named to it. */
  mustKnow: number;
  /** True: the stream has told it of the removed device. */
  hasHeard: boolean;
  /** The guests that it was told of as removed, or has removed itself. */
  readonly mustNotReach: Set<string>;
}

/** Returns null if the library refused, for any reason. Any other error is a fault of the test. */
export async function unlessRefused<T>(attempt: Promise<T>): Promise<T | null> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof BatonClientError) return null;
    throw error;
  }
}

export function makeParty(device: TestDevice, server: HostileServer): Party {
  const { id, user, name } = device;
  const baseUrl = 'http://127.0.0.1:1';
  const later = Date.now() + 10 * 86_400_000;
  let kept: KeptGrant | null = null;
  const grant = {
    load: async () => kept,
    save: async (given: KeptGrant) => void (kept = given),
    clear: async () => void (kept = null),
  };
  const stores = { keys: memoryKeys(), asking: memoryKeys(), grant };
  const session = memorySession({
    ...{ credential: 'none', access_token: 'none', access_token_expires_at: later, session_expires_at: later },
    ...{ scope: 'full', persist: 'persist', origins: [baseUrl] },
    device: { device_id: id, name, type: 'linux' } as never,
    user: { user_id: user } as never,
  });
  const options = { ...stores, baseUrl, session, fetch: server.fetchFor(device), taken: memoryTaken() };
  const made = { shown: new Set<string>(), clipboards: new Map<string, number>(), mustKnow: 0, hasHeard: false };
  const mustNotReach = new Set<string>();
  const party: Party = {
    ...{ device, id, stores, sealing: makeSealing(options), ...made, mustNotReach, heads: new Map(), keyring: null },
    restart: () => void (party.sealing = makeSealing(options)),
  };
  return party;
}

/** Returns the ring in force as this device knows it; null if it cannot use its keys now. */
export const currentOf = ({ sealing }: Party): Promise<Keyring | null> => unlessRefused(sealing.rings.current());

export interface Link {
  readonly n: number;
  readonly hash: string;
  readonly body: RingBody;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

/** Checks a signature over parts without the library. */
export function verifies(sig: string, parts: readonly (string | Buffer)[], signature: string | Buffer): boolean {
  const point = Buffer.from(sig, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url')) as [
    string,
    string,
  ];
  const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } });
  const bytes = typeof signature === 'string' ? Buffer.from(signature, 'base64url') : signature;
  return verify('sha256', signedBytes([...parts]), { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

/** Checks what was signed. `text`: `base64url(bytes).base64url(signature)`. */
export function isSignedBy(sig: string, label: string, account: AccountName, text: string): boolean {
  const [bytes, signature] = text.split('.').map((part) => Buffer.from(part, 'base64url')) as [Buffer, Buffer];
  return verifies(sig, [label, account.service, account.user_id, bytes], signature);
}

/**
 * Reads the chain that a device keeps, and checks it without the library: numbers, hashes, signatures, and the owners of
 * keys.
 */
export async function chainOf(
  { stores, id }: Party,
  account: AccountName,
  admitted: ReadonlySet<string>,
): Promise<Link[]> {
  const record = await stores.keys.load();
  const links: Link[] = [];
  for (const text of record?.rings ?? []) {
    const bytes = Buffer.from(text.split('.')[0] ?? '', 'base64url');
    const body = JSON.parse(bytes.toString()) as RingBody;
    const before = links.at(-1);
    if (before !== undefined) {
      if (body.n !== before.n + 1 || body.prev_hash !== before.hash) throw new Error(`${id} keeps no chain`);
      const signers = before.body.members.map(({ sig }) => sig);
      if (!signers.some((sig) => isSignedBy(sig, 'baton/1 ring', account, text)))
        throw new Error(`${id} keeps a ring of nobody`);
      const hasLeft = before.body.members.some(({ enc }) => body.members.every((each) => each.enc !== enc));
      if (hasLeft && body.epoch !== before.body.epoch + 1)
        throw new Error(`${id} keeps a key that somebody took along`);
    }
    for (const { device_id, enc, sig } of body.members) {
      if (!admitted.has(`${enc} ${sig}`)) throw new Error(`${id} has ${device_id} in its ring, whom nobody let in`);
    }
    links.push({ n: body.n, hash: sha256(bytes), body });
  }
  return links;
}

/** Tells whether two devices, or a device and what was sealed, are on one chain. */
export function areOnOneChain(
  one: readonly Pick<Link, 'n' | 'hash'>[],
  other: readonly Pick<Link, 'n' | 'hash'>[],
): boolean {
  const hashes = new Map(one.map(({ n, hash }) => [n, hash]));
  const common = other.filter(({ n }) => hashes.has(n));
  return common.length > 0 && common.every(({ n, hash }) => hashes.get(n) === hash);
}
