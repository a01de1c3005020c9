import { ECDH } from 'node:crypto';
import type { DeviceKeys } from '../contract/vocabulary/sealed.ts';
import { bytesOfBase64url } from './base64url.ts';

function isPoint(key: string): boolean {
  const bytes = bytesOfBase64url(key);
  if (bytes === null) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1', undefined, undefined, 'uncompressed');
    return true;
  } catch {
    return false;
  }
}

/** Returns the first of the two keys that is not a point of P-256; null if both are. */
export const oddKeyOf = (keys: DeviceKeys): 'enc' | 'sig' | null =>
  (['enc', 'sig'] as const).find((name) => !isPoint(keys[name])) ?? null;
