/*
 * An installation that believes anybody (identity mode `dev`): who this browser is stands in headers of each request, and is
 * kept here.
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
    // Nobody of ours has written that.
    return null;
  }
}

export function keepDevelopmentIdentity(identity: DevelopmentIdentity | null): void {
  keptWords.set(KEY, identity === null ? null : JSON.stringify(identity));
}

/** Header fields are bytes; what is no ASCII is sent as the bytes of its UTF-8. */
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
