import type { SessionAnswer } from '../../contract/modules/sessions.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { Fetch } from '../http/request.ts';
import type { Session } from './session.ts';

/** The service's cookie. Over https it has the prefix that binds it to this host. Its value goes into a body unchanged. */
const COOKIE = /^(?:__Host-)?baton=([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{1,4096})(?:;|$)/;

/** Wraps `fetch`, and returns the secret of the last session that a response set; null if a browser keeps it. */
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

const flawed = (what: string): BatonClientError =>
  new BatonClientError('unexpected_answer', `The answer is not what the contract says: ${what}`);

/** Makes a session as it is kept. `answer` has the form of a session; throws if its values are not possible. */
export function sessionOf(answer: SessionAnswer, credential: string | null, nowMs: number): Session {
  const { scope, persist, session_expires_at, device, user } = answer;
  if (scope !== 'full' && scope !== 'guest') throw flawed('another scope');
  if (persist !== 'once' && persist !== 'persist') throw flawed('another persistence');
  // A page cannot read its cookie. Any other program would have no secret.
  if (credential === null && typeof document === 'undefined') throw flawed('no credential');
  return {
    credential,
    // In a page the cookie carries the token too, and is renewed with it.
    access_token: credential === null ? null : answer.access_token,
    access_token_expires_at: nowMs + answer.expires_in * 1_000,
    access_token_seconds: answer.expires_in,
    ...{ scope, persist, session_expires_at, device, user },
  };
}
