import { pushWords } from '../texts/push-words.ts';
import type { Preview } from './here.ts';

const TYPES = ['message', 'transfer', 'arrived', 'device', 'test'] as const;
/** Limits above what the service sends. */
const MOST_COUNT = 9_999;
const MOST_CHARS = 4_096;

/**
 * The content of a push: kind, number, and with a preview sender and text (contract, "Push"). `unknown`: unreadable. An open
 * page tells of the same, and of files that have arrived.
 */
export interface PushPayload {
  type: (typeof TYPES)[number] | 'unknown';
  count: number;
  id: string;
  from?: string;
  text?: string;
}

const UNKNOWN: PushPayload = { type: 'unknown', count: 1, id: '' };

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

function readJson(data: { json(): unknown } | null): unknown {
  try {
    return data?.json();
  } catch {
    return undefined;
  }
}

/**
 * Reads a push. An unreadable push must still show something, because browsers demand that. The service may be newer than
 * this worker, so each field is checked.
 */
export function payloadOf(data: { json(): unknown } | null): PushPayload {
  const said = readJson(data);
  if (typeof said !== 'object' || said === null) return UNKNOWN;
  const { v, type: named, count, id, from, text } = said as Record<string, unknown>;
  const type = TYPES.find((one) => one === named);
  if (v !== 1 || type === undefined) return UNKNOWN;
  return {
    type,
    count: Number.isSafeInteger(count) ? Math.min(Math.max(Number(count), 1), MOST_COUNT) : 1,
    id: isText(id) ? id.slice(0, MOST_CHARS) : '',
    ...(isText(from) && { from: from.slice(0, MOST_CHARS) }),
    ...(isText(text) && { text: text.slice(0, MOST_CHARS) }),
  };
}

/** Leaves out what the user does not want to see in notifications. */
export function chosenOf({ from, text, ...rest }: PushPayload, preview: Preview): PushPayload {
  return {
    ...rest,
    ...(preview !== 'none' && from !== undefined && { from }),
    ...(preview === 'full' && text !== undefined && { text }),
  };
}

export interface Shown {
  title: string;
  body: string;
  tag: string;
  path: string;
}

/** Characters that could reorder the text beside them in a line of the system. The app shows the message itself. */
const TURNING = /\p{Bidi_Control}/gu;

/** Makes the notification, and the target of a click on it. Each known sender has a separate notification. */
export function notificationOf({ type, count, id, from, text }: PushPayload, language: string): Shown {
  const words = pushWords(language);
  const path = id === '' ? '/' : `/#/item/${encodeURIComponent(id)}`;
  const title = from ?? 'Baton';
  const tag = from === undefined ? type : `${type} ${from}`;
  switch (type) {
    case 'test':
      return { title, body: words.test, tag, path: '/#/settings' };
    case 'device':
      return { title, body: words.device, tag, path: '/#/settings' };
    case 'transfer':
      return { title, body: words.transfer(count), tag, path };
    case 'arrived':
      return { title, body: words.arrived(count), tag, path };
    case 'message':
      return { title, body: text?.replace(TURNING, '') ?? words.message(count), tag, path };
    case 'unknown':
      return { title, body: words.unknown, tag, path: '/' };
  }
}

/** Makes the notification for a push that comes although nobody is signed in. It shows nothing of the content. */
export const strayNotification = (language: string): Shown => ({
  ...{ title: 'Baton', tag: 'stray', path: '/' },
  body: pushWords(language).stray,
});
