import { createHmac } from 'node:crypto';
import type { IceServer } from '../../../shared/contract/modules/signal.ts';

/** Much longer than the longest attempt to connect, and short enough that a stolen credential soon becomes worthless. */
const TTL_SECONDS = 3_600;

export interface IceSettings {
  stunUrls: readonly string[];
  turnUrls: readonly string[];
  /** Shared with the TURN server (`static-auth-secret` of coturn); null: the TURN server asks for no credentials. */
  turnSecret: string | null;
}

/**
 * Returns the ICE servers for one device. TURN credentials are limited in time as in draft-uberti-behave-turn-rest-00:
 * the user is `<unix end>:<name>`, and the password is its HMAC-SHA1 in base64. The service therefore stores nothing.
 */
export function makeIce({ stunUrls, turnUrls, turnSecret }: IceSettings) {
  const turnFor = (deviceId: string): IceServer => {
    if (turnSecret === null) return { urls: [...turnUrls] };
    const username = `${Math.floor(Date.now() / 1000) + TTL_SECONDS}:${deviceId}`;
    return {
      urls: [...turnUrls],
      username,
      credential: createHmac('sha1', turnSecret).update(username).digest('base64'),
    };
  };
  return (deviceId: string): { ice_servers: IceServer[]; ttl_seconds: number } => ({
    ice_servers: [
      ...(stunUrls.length > 0 ? [{ urls: [...stunUrls] }] : []),
      ...(turnUrls.length > 0 ? [turnFor(deviceId)] : []),
    ],
    ttl_seconds: TTL_SECONDS,
  });
}
