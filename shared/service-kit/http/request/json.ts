import { BatonError } from '../../../contract/errors.ts';

/** The deepest nesting. Honest bodies stay far below it, and every JSON parser involved accepts it, also that of Redis. */
const MOST_DEPTH = 32;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Returns where the string that begins at `start` ends: its closing quote, or the end of the bytes. */
function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return bytes.length;
}

/** Returns whether lists and objects nest deeper than allowed, in linear time. For invalid JSON the result is arbitrary. */
function isTooDeep(bytes: Buffer): boolean {
  // Each level takes two bytes.
  if (bytes.length <= 2 * MOST_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    if (depth > MOST_DEPTH) return true;
  }
  return false;
}

/**
 * Parses the JSON of a client, from bytes that are UTF-8. The depth is limited, because code that walks through the value or
 * writes it again is recursive.
 * @throws invalid_request
 */
export function parseJson(bytes: Buffer): unknown {
  if (isTooDeep(bytes)) {
    throw new BatonError('invalid_request', `The body nests lists and objects more than ${MOST_DEPTH} deep`);
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new BatonError('invalid_request', 'The body is not valid JSON');
  }
}
