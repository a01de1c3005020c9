/** The bytes of base64url without padding; null for a text that is not the one spelling of some bytes. */
export function bytesOfBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  // Node skips what it does not know, and bits that are left over.
  return bytes.toString('base64url') === text ? bytes : null;
}
