import { createHmac } from 'node:crypto';
import type { IceServer } from '../../../shared/contract/signal.ts';

/** A credential outlives the longest attempt to connect by far, and a stolen one is soon worth nothing. */
const TTL_SECONDS = 3_600;

interface IceParts {
  stunUrls: readonly string[];
  turnUrls: readonly string[];
  /** Shared with the TURN server (`static-auth-secret` of coturn); null: the TURN server asks for nothing. */
  turnSecret: string | null;
}

/**
 * ICE servers for one device. TURN credentials follow the time-limited scheme that TURN servers share (draft-uberti-
 * behave-turn-rest-00): user `<unix end>:<name>`, password the base64 HMAC-SHA1 of it, so that nothing is stored.
 */
export function makeIce({ stunUrls, turnUrls, turnSecret }: IceParts) {
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
