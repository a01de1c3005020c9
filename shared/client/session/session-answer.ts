import type { SessionAnswer } from '../../contract/modules/sessions.ts';
import type { Fetch } from '../http/request.ts';
import type { Session } from './session.ts';

/** The service's cookie: over https with the prefix that keeps it to this very host. */
const COOKIE = /^(?:__Host-)?baton=([^;]+)/;

/** The platform's `fetch`, and the secret of the last session that an answer set; null where a browser keeps it. */
export function watchCookies(fetch: Fetch): { fetch: Fetch; credential: () => string | null } {
  let credential: string | null = null;
  return {
    async fetch(url, init) {
      const response = await fetch(url, init);
      for (const cookie of response.headers.getSetCookie?.() ?? []) credential = COOKIE.exec(cookie)?.[1] ?? credential;
      return response;
    },
    credential: () => credential,
  };
}

/** A session as it is kept. */
export function sessionOf(answer: SessionAnswer, credential: string | null, nowMs: number): Session {
  const { scope, persist, session_expires_at, device, user } = answer;
  return {
    credential,
    // The cookie says it too, and is renewed with it.
    access_token: credential === null ? null : answer.access_token,
    access_token_expires_at: nowMs + answer.expires_in * 1_000,
    ...{ scope, persist, session_expires_at, device, user },
  };
}
