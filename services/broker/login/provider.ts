import { compactVerify, createRemoteJWKSet, type JWTVerifyGetKey } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { OidcConfig } from '../config/config.ts';
import type { Attempt } from './attempt.ts';

/** For each request to the provider. */
const TIMEOUT_SECONDS = 5;

/** How long a key that the provider has withdrawn is believed. */
const KEYS_MS = 300_000;

/** What the provider says of a user. */
export type Claims = Readonly<Record<string, unknown>>;

interface ProviderParts {
  oidc: OidcConfig;
  callbackUrl: string;
  /** A name that the provider did not tell is no reason to refuse somebody. */
  onUserInfoFailure: (error: unknown) => void;
}

/** `client_secret_basic` is what a provider that tells nothing understands (OpenID Connect Discovery, section 3). */
function clientAuth(secret: string | null): ClientAuth {
  if (secret === null) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** For trying it out: in production the configuration allows http only for localhost. */
// oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out, says its documentation
const allowHttp = allowInsecureRequests;

const hasName = (claims: Claims): boolean => ['name', 'preferred_username', 'email'].some((name) => claims[name]);

/** The OpenID provider: authorization code flow with state, nonce and PKCE (S256). */
export function makeProvider({ oidc, callbackUrl, onUserInfoFailure }: ProviderParts) {
  let found: Promise<Configuration> | null = null;
  let keySet: JWTVerifyGetKey | null = null;

  /** Looked for at the first login, and again after a failure: a provider that is away must not keep us from starting. */
  const configuration = (): Promise<Configuration> => {
    found ??= discovery(new URL(oidc.issuer), oidc.clientId, undefined, clientAuth(oidc.clientSecret), {
      timeout: TIMEOUT_SECONDS,
      execute: oidc.issuer.startsWith('http:') ? [allowHttp] : [],
    }).catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };

  /**
   * Checks the signature of the ID token too, beside its claims and the connection on which it came. The library's own check knows no
   * key that is less than a minute younger than those that it has, and nobody could log in for so long.
   */
  async function checkSignature(server: Configuration, idToken: string): Promise<void> {
    const { jwks_uri, id_token_signing_alg_values_supported: algorithms = ['RS256'] } = server.serverMetadata();
    // An unknown key is looked for at once: it is the provider alone who names it.
    keySet ??= createRemoteJWKSet(new URL(jwks_uri ?? ''), {
      cooldownDuration: 0,
      cacheMaxAge: KEYS_MS,
      timeoutDuration: TIMEOUT_SECONDS * 1_000,
    });
    await compactVerify(idToken, keySet, { algorithms: [...algorithms] });
  }

  async function userInfo(server: Configuration, token: string, subject: string): Promise<Claims> {
    if (server.serverMetadata().userinfo_endpoint === undefined) return {};
    try {
      return await fetchUserInfo(server, token, subject);
    } catch (error) {
      onUserInfoFailure(error);
      return {};
    }
  }

  return {
    /** The address at which a login begins, and what must be remembered of it. */
    async begin(returnTo: string): Promise<{ url: string; attempt: Attempt }> {
      const server = await configuration();
      const attempt = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier(), returnTo };
      const url = buildAuthorizationUrl(server, {
        redirect_uri: callbackUrl,
        scope: 'openid profile email',
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await calculatePKCECodeChallenge(attempt.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, attempt };
    },

    /** Exchanges the code of the callback. Throws whatever is wrong with it or with the provider. */
    async finish(query: string, { state, nonce, codeVerifier }: Attempt): Promise<Claims & { sub: string }> {
      const server = await configuration();
      // Built from what we are called, never from what the request says.
      const tokens = await authorizationCodeGrant(server, new URL(callbackUrl + query), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      await checkSignature(server, tokens.id_token ?? '');
      const claims = { ...tokens.claims() } as Claims & { sub: string };
      if (hasName(claims)) return claims;
      return { ...(await userInfo(server, tokens.access_token, claims.sub)), ...claims };
    },
  };
}

export type Provider = ReturnType<typeof makeProvider>;
