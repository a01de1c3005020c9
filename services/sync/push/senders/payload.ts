import type { PushNotice } from '../sender.ts';

/**
 * Push services accept 4,096 bytes. Those that relay to others accept as little as 2,744. The difference between that
 * and this limit is left for headers.
 */
const MOST_PREVIEW_BYTES = 2_048;

/** Returns all that a provider may see: the kind, the count, and the id to ask for (contract, Push). */
export const payloadOf = ({ type, count, id }: PushNotice) => ({ v: 1, type, count, id }) as const;

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Returns the longest start of the text, in whole characters, that fits with the rest. */
function shortened(text: string, fits: (text: string) => boolean): string {
  const characters = Array.from(text);
  let [least, most] = [0, characters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(`${characters.slice(0, middle).join('')}…`)) least = middle;
    else most = middle - 1;
  }
  return `${characters.slice(0, least).join('')}…`;
}

/**
 * Returns the text that web push carries inside its encryption: the payload, with the preview that the device asked for.
 * A long text is cut to the size that every push service accepts.
 */
export function webPayload(notice: PushNotice, { withPreview }: { withPreview: boolean }): string {
  const plain = payloadOf(notice);
  if (notice.preview === null || !withPreview) return JSON.stringify(plain);
  const { from, text } = notice.preview;
  const whole = { ...plain, from, ...(text !== undefined && { text }) };
  if (text === undefined || sizeOf(whole) <= MOST_PREVIEW_BYTES) return JSON.stringify(whole);
  const fits = (shorter: string) => sizeOf({ ...whole, text: shorter }) <= MOST_PREVIEW_BYTES;
  return JSON.stringify({ ...whole, text: shortened(text, fits) });
}
