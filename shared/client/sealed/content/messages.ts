import { checkMaySeal, type Keyring } from '../keyring.ts';
import { textOf, toBase64url, utf8 } from '../primitives/bytes.ts';
import { memberOf } from '../ring/ring.ts';
import { sealedError } from '../sealed-error.ts';
import { makeBody, type Opened, readBody } from './body.ts';
import { envelopeIn, openEnvelope, sealForAccount, sealForDevice } from './envelope.ts';

const LABEL = 'baton/1 msg';
const MESSAGE_BYTES = 4_096;

/** A message that was opened. */
export interface OpenedMessage extends Opened {
  readonly text: string;
}

/**
 * Seals a message to a device, or with `*` to all full members: `sealed` of `POST /api/message`. For a retry send the same
 * envelope again. A guest seals to one device at a time.
 */
export async function sealMessage(
  keyring: Keyring,
  { to, text, t, id }: { to: string; text: string; t: number; id?: string },
): Promise<string> {
  checkMaySeal(keyring);
  const content = utf8(text);
  if (content.length > MESSAGE_BYTES) throw sealedError('too_long');
  const letter = { label: LABEL, from: keyring.device_id, target: to };
  const body = await makeBody(keyring, letter, { content, t, id });
  const isShared = keyring.accountKeys.length > 0 && (to === '*' || memberOf(keyring.ring, to) !== null);
  const seal = isShared ? sealForAccount(keyring, letter, 'msg', body) : sealForDevice(keyring, letter, body, t);
  return toBase64url(await seal);
}

/** Opens `sealed` of a message. `from` and `to` come from the service; a lie about either is detected. */
export async function openMessage(
  keyring: Keyring,
  { sealed, from, to }: { sealed: string; from: string; to: string },
): Promise<OpenedMessage> {
  const letter = { label: LABEL, from, target: to };
  const { body, epoch } = await openEnvelope(keyring, letter, 'msg', envelopeIn(sealed));
  const { content, ...opened } = await readBody(keyring, letter, body);
  const text = textOf(content);
  if (text === null || content.length > MESSAGE_BYTES) throw sealedError('cannot_open');
  if (epoch !== null && epoch !== opened.epoch) throw sealedError('cannot_open');
  return { ...opened, text };
}
