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

/** The time limit of each request to the provider. */
const TIMEOUT_SECONDS = 5;

/** How long a key that the provider has withdrawn may still be trusted. */
const KEYS_MS = 300_000;

/** The claims of the provider about a user. */
export type Claims = Readonly<Record<string, unknown>>;

interface ProviderParts {
  oidc: OidcConfig;
  callbackUrl: string;
  /** Called when the provider gave no user info. A missing name is no reason to refuse the user. */
  onUserInfoFailure: (error: unknown) => void;
}

/** Chooses the client authentication. The default is `client_secret_basic` (OpenID Connect Discovery, section 3). */
function clientAuth(secret: string | null): ClientAuth {
  if (secret === null) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Allows http, for trials. In production the configuration allows http only for localhost. */
// oxlint-disable-next-line typescript/no-deprecated -- its documentation says that it is marked only so that it stands out
const allowHttp = allowInsecureRequests;

const hasName = (claims: Claims): boolean => ['name', 'preferred_username', 'email'].some((name) => claims[name]);

/** Makes the client of the OpenID provider: authorization code flow with state, nonce and PKCE (S256). */
export function makeProvider({ oidc, callbackUrl, onUserInfoFailure }: ProviderParts) {
  let found: Promise<Configuration> | null = null;
  let keySet: JWTVerifyGetKey | null = null;

  /** Discovers the provider at the first login, and again after a failure, so that its outage does not prevent our start. */
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
   * Checks the signature of the ID token, besides its claims and its connection. The library's own check does not fetch a
   * new key within a minute of its last fetch, and nobody could log in during that time.
   */
  async function checkSignature(server: Configuration, idToken: string): Promise<void> {
    const { jwks_uri, id_token_signing_alg_values_supported: algorithms = ['RS256'] } = server.serverMetadata();
    // An unknown key is fetched at once, because only the provider can name one.
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
    /** Begins a login. Resolves to the provider's address for it, and to the state to remember. */
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

    /** Exchanges the code of the callback. Throws any error of the code or of the provider. */
    async finish(query: string, { state, nonce, codeVerifier }: Attempt): Promise<Claims & { sub: string }> {
      const server = await configuration();
      // The URL is built from the configured one, never from the request's host.
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
