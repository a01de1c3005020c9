import Type, { type Static } from 'typebox';
import { LIMITS } from '../limits.ts';

/** A point of P-256, uncompressed: 65 bytes. The rules check whether it lies on the curve. */
const PublicKey = Type.String({
  pattern: '^B[A-Za-z0-9_-]{86}$',
  description: 'A raw public key of P-256, uncompressed: 65 bytes as base64url without padding.',
  // The generator of the curve.
  examples: ['BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU'],
});

/** The public keys of a device: others seal to `enc`, and verify its signatures with `sig`. */
export const DeviceKeys = Type.Object({ enc: PublicKey, sig: PublicKey });
export type DeviceKeys = Static<typeof DeviceKeys>;

/** Groups the digits of a number as in English. `toLocaleString` loads the data of all languages: 20 ms of each start. */
const grouped = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ',');

/** Any text. The rules of each module refuse text that is not base64url, or too long, with codes of their own. */
const sealed = (most: number) =>
  Type.String({
    description: `Base64url without padding, at most ${grouped(most)} bytes when decoded. Only devices can open it.`,
  });

export const SealedMessage = sealed(LIMITS.sealedMessageBytes);
export const SealedClipboard = sealed(LIMITS.sealedClipboardBytes);
export const SealedFiles = sealed(LIMITS.sealedBytes);
export const SealedGrant = sealed(LIMITS.sealedGrantBytes);
