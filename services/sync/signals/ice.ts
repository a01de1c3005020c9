import { createHmac } from 'node:crypto';
import type { IceServer } from '../../../shared/contract/modules/signal.ts';

/** By far longer than the longest attempt to connect, and short enough that a stolen credential is soon worthless. */
const TTL_SECONDS = 3_600;

export interface IceSettings {
  stunUrls: readonly string[];
  turnUrls: readonly string[];
  /** Shared with the TURN server (`static-auth-secret` of coturn); null: the TURN server asks for nothing. */
  turnSecret: string | null;
}

/**
 * ICE servers for one device. TURN credentials are limited in time, as draft-uberti-behave-turn-rest-00 has it: the user
 * is `<unix end>:<name>`, the password its HMAC-SHA1 in base64. So nothing is stored.
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
