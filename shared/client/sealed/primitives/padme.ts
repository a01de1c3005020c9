/** Returns the Padmé length for this many bytes: at most 12 % more, and few distinct lengths. */
export function padmeLength(length: number): number {
  if (length < 2) return length;
  const exponent = Math.floor(Math.log2(length));
  const kept = Math.floor(Math.log2(exponent)) + 1;
  const step = 2 ** Math.max(0, exponent - kept);
  return Math.ceil(length / step) * step;
}
