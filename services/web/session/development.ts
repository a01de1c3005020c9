/*
 * The identity in an installation that trusts everybody (identity mode `dev`). It is in the headers of each request, and is
 * stored here.
 */
import { keptWords } from '../kept-words.ts';

const KEY = 'baton-development';

export interface DevelopmentIdentity {
  user: string;
  deviceId: string;
  name: string;
}

export function developmentIdentity(): DevelopmentIdentity | null {
  try {
    return JSON.parse(keptWords.get(KEY) ?? 'null') as DevelopmentIdentity | null;
  } catch {
    // The app has not written this value.
    return null;
  }
}

export function keepDevelopmentIdentity(identity: DevelopmentIdentity | null): void {
  keptWords.set(KEY, identity === null ? null : JSON.stringify(identity));
}

/** Encodes text for header fields, which are bytes: text beyond ASCII is sent as the bytes of its UTF-8. */
const asBytes = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

export function developmentHeaders(): Record<string, string> {
  const identity = developmentIdentity();
  if (identity === null) return {};
  return {
    'X-Dev-User': asBytes(identity.user),
    ...(identity.deviceId !== '' && { 'X-Dev-Device': identity.deviceId, 'X-Dev-Name': identity.name }),
    'X-Dev-Type': 'browser',
  };
}
