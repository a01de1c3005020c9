/** Decodes base64url without padding; null for a text that is not the canonical form of some bytes. */
export function bytesOfBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  // Node skips unknown characters and leftover bits.
  return bytes.toString('base64url') === text ? bytes : null;
}
