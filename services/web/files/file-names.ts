/* Names come from the other side, and a file system may read more in them than people do. */

/** Names of devices on Windows, with any ending. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
/** What the service takes in no name. */
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\\]/g;
/** Controls, what writes from right to left in secret, and what separates folders somewhere. */
const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]/g;

/** One part of a path that every file system takes. */
function safePart(text: string): string {
  const plain = text
    .replace(HOSTILE, '_')
    .replace(/[. ]+$/, '')
    .slice(0, 200);
  if (plain === '') return 'file';
  return RESERVED.test(plain) ? `_${plain}` : plain;
}

/** Bytes of UTF-8 that a part of a path may have at the service. */
const PART_BYTES = 255;

function shortened(part: string): string {
  let text = part;
  while (new TextEncoder().encode(text).length > PART_BYTES) text = text.slice(0, -1);
  return text;
}

/** What a chosen file is offered as: names that the service would refuse are changed, and the file is sent. */
export const offeredName = (name: string): string =>
  name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .map((part) => (part === '..' ? '_' : shortened(part.toWellFormed().replace(UNFIT, '_'))))
    .join('/') || 'file';

export const safePath = (name: string): string[] => name.split('/').map(safePart);
