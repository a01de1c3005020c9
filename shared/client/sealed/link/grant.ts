import type { Keyring } from '../keyring.ts';
import type { DeviceKeys, PublicKeys } from '../keys/device-keys.ts';
import { pointIn } from '../keys/device-keys.ts';
import type { KeyedAccount } from '../keys/key-store.ts';
import { type Bytes, fromBase64url, toBase64url, utf8 } from '../primitives/bytes.ts';
import { digitsOf } from '../primitives/digits.ts';
import { hkdf } from '../primitives/hkdf.ts';
import { pskOpen, pskSeal, readEnc } from '../primitives/hpke.ts';
import { parts } from '../primitives/parts.ts';
import { hashOf, jsonIn } from '../ring/ring.ts';
import { sealedError } from '../sealed-error.ts';

/** A device that asks to be let in, as the service shows it. */
export interface Asking {
  readonly request_id: string;
  readonly device_id: string;
  readonly keys: PublicKeys;
}

/** The sealed grant for the new device, and the digits that both devices show. */
export interface SealedGrant {
  readonly sealed: string;
  readonly checkCode: string;
}

/** The content of a grant: the account of the device, the ring, and who let it in. */
export interface Grant {
  readonly account: KeyedAccount;
  readonly n: number;
  readonly hash: string;
  readonly approver: string;
  /** Four digits. Send and store nothing until the user has confirmed that the approver shows the same digits. */
  readonly checkCode: string;
}

const GRANT_BYTES = 2_048;
const CHECK_DIGITS = 4;

const infoOf = ({ service, user_id, device_id }: KeyedAccount, requestId: string): Bytes =>
  parts(['baton/1 grant', service, user_id, requestId, device_id]);

const pskOf = (secret: Bytes): Promise<Bytes> => hkdf(secret, 'baton/1 link');

/** Seals the grant that names the ring of the device. Call it when the service has accepted that ring. */
export async function sealGrant(keyring: Keyring, asking: Asking, secret: Bytes): Promise<SealedGrant> {
  const { ring, account, device_id: approver } = keyring;
  const { service, user_id } = account;
  const { request_id, device_id, keys } = asking;
  const grant = { v: 1, service, user_id, request_id, device_id, n: ring.body.n, hash: hashOf(ring), approver };
  const point = pointIn(keys.enc);
  if (point === null) throw sealedError('other_keys');
  const info = infoOf({ service, user_id, device_id }, request_id);
  const { bytes, check } = await pskSeal(await readEnc(point), info, await pskOf(secret), utf8(JSON.stringify(grant)));
  if (bytes.length > GRANT_BYTES) throw sealedError('too_long');
  return { sealed: toBase64url(bytes), checkCode: digitsOf(check, CHECK_DIGITS) };
}

/**
 * Opens the grant with the secret of the code. `account` comes from the service with the session: a grant for another
 * account or device does not open.
 */
export async function openGrant(
  keys: DeviceKeys,
  { sealed, request_id, account, secret }: { sealed: string; request_id: string; account: KeyedAccount; secret: Bytes },
): Promise<Grant> {
  const envelope = fromBase64url(sealed) ?? new Uint8Array();
  if (envelope.length > GRANT_BYTES) throw sealedError('bad_grant');
  const opened = await pskOpen(keys.enc, infoOf(account, request_id), await pskOf(secret), envelope);
  const said = (opened === null ? undefined : jsonIn(opened.bytes)) as Record<string, unknown> | null | undefined;
  if (opened === null || typeof said !== 'object' || said === null || said['v'] !== 1) throw sealedError('bad_grant');
  const wanted = { request_id, service: account.service, user_id: account.user_id, device_id: account.device_id };
  const fits = Object.entries(wanted).every(([name, value]) => said[name] === value);
  const { n, hash, approver } = said;
  if (!fits || !Number.isSafeInteger(n) || typeof hash !== 'string' || typeof approver !== 'string') {
    throw sealedError('bad_grant');
  }
  return { account, n: n as number, hash, approver, checkCode: digitsOf(opened.check, CHECK_DIGITS) };
}
