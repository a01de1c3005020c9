import { webcrypto } from 'node:crypto';

/** The parts that are signed: label, service and user, then the content. */
export interface Signed {
  label: 'baton/1 ring' | 'baton/1 guests' | 'baton/1 keys delete' | 'baton/1 keys keep' | 'baton/1 erase';
  service: string;
  userId: string;
  about: readonly (string | Buffer)[];
}

/** Joins the parts, each preceded by its length. Without the lengths two different lists could give the same bytes. */
export function partsOf({ label, service, userId, about }: Signed): Buffer {
  const parts = [label, service, userId, ...about].map((part) => Buffer.from(part as string));
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256' } as const;

/** Resolves to whether the holder of `sig`, a raw public key in base64url, signed these bytes. */
export async function hasSigned(sig: string, signature: Buffer, bytes: Buffer): Promise<boolean> {
  const key = await webcrypto.subtle.importKey('raw', Buffer.from(sig, 'base64url'), P256, false, ['verify']);
  return webcrypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, bytes);
}
