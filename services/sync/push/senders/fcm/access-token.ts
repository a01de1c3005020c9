import { SignJWT } from 'jose';
import type { Dispatcher } from 'undici';
import type { SharedTexts } from '../../sender.ts';
import { isTransient } from '../outcomes.ts';
import { post } from '../post.ts';
import { makeProviderToken, type Minted } from '../provider-token.ts';
import { readSigningKey } from '../signing-key.ts';

/** The parts of a Google service account that signing in needs. */
export interface AccessAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id: string;
  readonly token_uri: string;
}

interface AccessTokenParts {
  account: AccessAccount;
  /** The name under which the replicas share the token. */
  name: string;
  texts: SharedTexts;
  dispatcher: Dispatcher;
  now: () => number;
}

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
/** The longest lifetime that Google allows. */
const ASSERTION_SECONDS = 3_600;
/** How long before its expiry a token is no longer used here, so that none is refused because clocks differ. */
const EARLY_SECONDS = 300;
const FETCH_MS = 5_000;

/** The error when no access token was issued. `isFinal`: the account is refused, so asking again is useless. */
export class TokenRefused extends Error {
  readonly isFinal: boolean;

  constructor({ isFinal }: { isFinal: boolean }) {
    super('no access token');
    this.isFinal = isFinal;
  }
}

function grantOf(body: string): { text: string; expiresIn: number } | null {
  try {
    const { access_token: text, expires_in: expiresIn } = JSON.parse(body) as Record<string, unknown>;
    const fits = typeof text === 'string' && /^[\x21-\x7e]+$/.test(text) && typeof expiresIn === 'number';
    return fits ? { text, expiresIn } : null;
  } catch {
    return null;
  }
}

/**
 * Makes access tokens for a service account (RFC 7523): an assertion signed with its key is exchanged for a token of an
 * hour. Throws at once for an account that cannot sign, or whose assertions would be sent in the clear.
 */
export function makeAccessTokens({ account, name, texts, dispatcher, now }: AccessTokenParts) {
  const key = readSigningKey(account.private_key, 'RS256', 'the service account');
  if (!account.token_uri.startsWith('https://')) throw new Error('The token_uri of the service account is not https');

  async function assertion(): Promise<string> {
    const seconds = Math.floor(now() / 1_000);
    return new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: account.private_key_id })
      .setIssuer(account.client_email)
      .setAudience(account.token_uri)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + ASSERTION_SECONDS)
      .sign(key);
  }

  async function mint(): Promise<Minted> {
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: await assertion() };
    const answer = await post({
      url: account.token_uri,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      dispatcher,
      // It has a separate time limit, because the push that needs the token may have little time left.
      signal: AbortSignal.timeout(FETCH_MS),
    }).catch(() => null);
    const grant = answer?.status === 200 ? grantOf(answer.body) : null;
    if (grant === null) throw new TokenRefused({ isFinal: answer !== null && !isTransient(answer.status) });
    return { text: grant.text, seconds: Math.max(1, Math.floor(grant.expiresIn) - EARLY_SECONDS) };
  }

  return makeProviderToken({ name, texts, mint, leastAgeMs: 0, now });
}
