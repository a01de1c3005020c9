import { checkMaySeal, type Keyring } from '../keyring.ts';
import { type Bytes, fromBase64url, randomBytes, textOf, toBase64url, utf8 } from '../primitives/bytes.ts';
import { sealedError } from '../sealed-error.ts';
import { makeBody, type Opened, readBody } from './body.ts';
import { envelopeIn, openEnvelope, sealForDevice } from './envelope.ts';

const LABEL = 'baton/1 transfer';
const DESCRIPTION_BYTES = 512 * 1024;
const KEY_BYTES = 32;
const SHA256 = /^[0-9a-f]{64}$/;

/** A file of a transfer, as only its two devices know it. */
export interface SealedFile {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /**
   * In lower-case hexadecimal; left out if the sender read the file only once. Records prove what arrives. The digest
   * proves what is on the receiver's disk after it has stopped and resumed.
   */
  readonly sha256?: string;
  /** When it was last changed, in Unix milliseconds. */
  readonly modified_at?: number;
}

/** The files of a transfer, and the key of its files and signals. */
export interface Description {
  readonly files: readonly SealedFile[];
  readonly key: Bytes;
}

/** A description that was opened. */
export interface OpenedDescription extends Opened, Description {}

/** Returns the name that the service gets. */
export const plainNameOf = (index: number): string => `${index}.bin`;

const fileOf = ({ name, type, size, sha256, modified_at }: SealedFile): SealedFile => ({
  ...{ name, type, size },
  ...(sha256 !== undefined && { sha256 }),
  ...(modified_at !== undefined && { modified_at }),
});

/** Seals names, types, sizes, digests and a new key for the receiver: `sealed` of the transfer. */
export async function sealTransfer(
  keyring: Keyring,
  { to, files, t }: { to: string; files: readonly SealedFile[]; t: number },
): Promise<{ sealed: string; key: Bytes }> {
  checkMaySeal(keyring);
  const key = randomBytes(KEY_BYTES);
  const listed = files.map(fileOf);
  const content = utf8(JSON.stringify({ key: toBase64url(key), files: listed }));
  const letter = { label: LABEL, from: keyring.device_id, target: to };
  const sealed = await sealForDevice(keyring, letter, await makeBody(keyring, letter, { content, t }), t);
  if (sealed.length > DESCRIPTION_BYTES) throw sealedError('too_long');
  return { sealed: toBase64url(sealed), key };
}

function isFile(value: unknown): value is SealedFile {
  if (typeof value !== 'object' || value === null) return false;
  const { name, type, size, sha256, modified_at = 0 } = value as Record<string, unknown>;
  if (sha256 !== undefined && (typeof sha256 !== 'string' || !SHA256.test(sha256))) return false;
  const isWhole = [size, modified_at].every((number) => Number.isSafeInteger(number) && (number as number) >= 0);
  return typeof name === 'string' && typeof type === 'string' && isWhole;
}

function descriptionIn(content: Bytes): Description | null {
  try {
    const said = JSON.parse(textOf(content) ?? '') as { key?: unknown; files?: unknown } | null;
    const key = typeof said?.key === 'string' ? fromBase64url(said.key) : null;
    if (key?.length !== KEY_BYTES || !Array.isArray(said?.files) || !said.files.every(isFile)) return null;
    return { key, files: said.files.map(fileOf) };
  } catch {
    return null;
  }
}

/** Opens the description of a transfer to this device. Names come from the sender: check them as any name from outside. */
export async function openTransfer(
  keyring: Keyring,
  { sealed, from }: { sealed: string; from: string },
): Promise<OpenedDescription> {
  const letter = { label: LABEL, from, target: keyring.device_id };
  const envelope = envelopeIn(sealed);
  if (envelope[0] !== 0x02) throw sealedError('cannot_open');
  const { body } = await openEnvelope(keyring, letter, 'msg', envelope);
  const { content, ...opened } = await readBody(keyring, letter, body);
  const description = descriptionIn(content);
  if (description === null) throw sealedError('cannot_open');
  return { ...opened, ...description };
}
