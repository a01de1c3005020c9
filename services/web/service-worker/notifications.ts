import { pushWords } from '../texts/push-words.ts';

const TYPES = ['message', 'transfer', 'device', 'test'] as const;
/** The service sends less. */
const MOST_COUNT = 9_999;
const MOST_CHARS = 4_096;

/** What a push says: kind and number, and with a preview who and what (contract, "Push"). `unknown`: it cannot be read. */
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
 * A push that cannot be read still has to show something: browsers ask for that. It may come from a service that is newer
 * than this worker, so that each field is looked at.
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

export interface Shown {
  title: string;
  body: string;
  tag: string;
  path: string;
}

/** In a line of the system's they could turn around what is beside it; the message itself is in the app. */
const TURNING = /\p{Bidi_Control}/gu;

/** What is shown, and where a click on it leads. Whose names are known have a notification each. */
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
    case 'message':
      return { title, body: text?.replace(TURNING, '') ?? words.message(count), tag, path };
    case 'unknown':
      return { title, body: words.unknown, tag, path: '/' };
  }
}

/** For a push that comes although nobody is signed in: nothing of what it says. */
export const strayNotification = (language: string): Shown => ({
  ...{ title: 'Baton', tag: 'stray', path: '/' },
  body: pushWords(language).stray,
});
