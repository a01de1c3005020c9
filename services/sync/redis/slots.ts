/** Slots of a cluster (cluster specification, "Key distribution model"). */
const SLOTS = 16_384;

/** Computes CRC16 XMODEM bit by bit, which is fast enough for an account of some twenty bytes. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

/** Returns the text between the first braces of a key, else the whole key. */
export function hashTag(key: string): string {
  const open = key.indexOf('{');
  const close = key.indexOf('}', open + 1);
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key;
}

export const slotOf = (key: string): number => crc16(Buffer.from(hashTag(key))) % SLOTS;
