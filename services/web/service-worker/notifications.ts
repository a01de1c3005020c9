import { english } from '../texts/english.ts';
import { german } from '../texts/german.ts';

/** What a push says: kind and number, and with a preview who and what (contract, "Push"). */
export interface PushPayload {
  v: number;
  type: 'message' | 'transfer' | 'device' | 'test';
  count: number;
  id: string;
  from?: string;
  text?: string;
}

/** A push that cannot be read still has to show something: browsers ask for that. */
export function payloadOf(data: { json(): unknown } | null): PushPayload {
  try {
    const payload = data?.json() as Partial<PushPayload> | undefined;
    if (payload?.type !== undefined) return { v: 1, count: 1, id: '', ...payload, type: payload.type };
  } catch {
    // No JSON: shown as a message without more.
  }
  return { v: 1, type: 'message', count: 1, id: '' };
}

export interface Shown {
  title: string;
  body: string;
  tag: string;
  path: string;
}

/** In a line of the system's they could turn around what is beside it; the message itself is in the app. */
const TURNING = /\p{Bidi_Control}/gu;

/** What is shown, and where a click on it leads. */
export function notificationOf({ type, count, id, from, text }: PushPayload, language: string): Shown {
  const texts = (language.startsWith('de') ? german : english).push;
  const path = type === 'device' ? '/#/settings' : id === '' ? '/' : `/#/item/${encodeURIComponent(id)}`;
  const title = from ?? 'Baton';
  const tag = type === 'message' ? 'messages' : type;
  if (type === 'test') return { title, body: texts.test, tag, path: '/#/settings' };
  if (type === 'device') return { title, body: texts.device, tag, path };
  if (type === 'transfer') return { title, body: texts.transfer(count), tag, path };
  return { title, body: text?.replace(TURNING, '') ?? texts.message(count), tag, path };
}
