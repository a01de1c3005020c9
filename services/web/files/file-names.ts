/* Names come from the other side, and a file system may read more in them than people do. */

/** Names of devices on Windows, with any ending. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
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

export const safePath = (name: string): string[] => name.split('/').map(safePart);
