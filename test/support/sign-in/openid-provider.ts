import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** How the provider departs from the protocol, for tests of clients that must notice. */
export interface Misbehaviour {
  /** Claims of the ID token that replace the right ones. Undefined removes one. */
  claims?: Record<string, unknown>;
  /** Signs with a key that is not in its key set. */
  foreignKey?: boolean;
  /** Sends an unsigned ID token (`alg: none`). */
  unsigned?: boolean;
  /** Refuses the user with this error code. */
  error?: string;
  /** Names another issuer in the authorization response (RFC 9207). */
  responseIssuer?: string;
}

interface Grant {
  redirectUri: string;
  nonce: string | null;
  challenge: string;
  used: boolean;
}

export interface OpenIdProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * The next user to log in: claims in addition to those of the protocol. Those in `userinfo` are returned there and not in the
   * ID token.
   */
  user: { claims: Record<string, unknown>; userinfo: Record<string, unknown> };
  misbehaviour: Misbehaviour;
  /** How often each endpoint was called. */
  readonly asked: Record<string, number>;
  /** The client's registered addresses; empty: any. All others are refused without a redirect. The match is exact. */
  redirectUris: string[];
  /** Signs with a new key from now on, and publishes only that key, or the old ones too. */
  rotate(options?: { keepsOld?: boolean; alg?: string }): Promise<void>;
  stop(): Promise<void>;
}

async function makeSigningKey(kid: string, alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

class Refused extends Error {
  readonly status: number;

  constructor(error: string, status = 400) {
    super(error);
    this.status = status;
  }
}

const demand = (right: boolean, error: string, status?: number): void => {
  if (!right) throw new Refused(error, status);
};

async function bodyOf(req: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk as string;
  return new URLSearchParams(text);
}

/**
 * Starts an OpenID provider on loopback that signs in every caller without a question: discovery, authorization code flow
 * with PKCE (S256 demanded), client authentication by `client_secret_basic`, RS256 ID tokens, key set, user info. OpenID
 * Connect Core 1.0, RFC 6749, RFC 7636, RFC 9207.
 */
export async function startOpenIdProvider({ port = 0 } = {}): Promise<OpenIdProvider> {
  const foreign = await generateKeyPair('RS256');
  const keys = [await makeSigningKey('provider-1', 'RS256')];
  const grants = new Map<string, Grant>();
  const accessTokens = new Set<string>();
  const [clientId, clientSecret] = ['baton-broker', 'the secret / of: the client'];

  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => {
      const status = error instanceof Refused ? error.status : 500;
      res.writeHead(status, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ error: error instanceof Error ? error.message : 'unknown' }));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function authorize(query: URLSearchParams): string {
    const one = (name: string): string => {
      const values = query.getAll(name);
      demand(values.length === 1 && values[0] !== '', `invalid_request: ${name}`);
      return values[0] as string;
    };
    demand(one('client_id') === clientId, 'unauthorized_client');
    demand(one('response_type') === 'code', 'unsupported_response_type');
    demand(one('scope').split(' ').includes('openid'), 'invalid_scope');
    demand(one('code_challenge_method') === 'S256', 'invalid_request: PKCE');
    demand(/^[A-Za-z0-9_-]{43}$/.test(one('code_challenge')), 'invalid_request: PKCE');
    const [state, redirectUri] = [one('state'), one('redirect_uri')];
    const { redirectUris } = provider;
    demand(redirectUris.length === 0 || redirectUris.includes(redirectUri), 'invalid_request: redirect_uri');
    const back = new URL(redirectUri);
    back.searchParams.set('state', state);
    back.searchParams.set('iss', provider.misbehaviour.responseIssuer ?? issuer);
    if (provider.misbehaviour.error !== undefined) {
      back.searchParams.set('error', provider.misbehaviour.error);
      return back.href;
    }
    const code = randomBytes(16).toString('base64url');
    grants.set(code, { redirectUri, nonce: query.get('nonce'), challenge: one('code_challenge'), used: false });
    back.searchParams.set('code', code);
    return back.href;
  }

  /** Authenticates the client. Both parts are form-encoded before they are joined (RFC 6749, section 2.3.1). */
  function authenticate(req: IncomingMessage): void {
    const [, basic = ''] = /^Basic (.+)$/.exec(req.headers.authorization ?? '') ?? [];
    const parts = Buffer.from(basic, 'base64').toString().split(':');
    const [id, secret] = parts.map((part) => new URLSearchParams(`v=${part}`).get('v'));
    demand(id === clientId && secret === clientSecret, 'invalid_client', 401);
  }

  async function idToken(nonce: string | null): Promise<string> {
    const { claims, foreignKey, unsigned } = provider.misbehaviour;
    const now = Math.floor(Date.now() / 1000);
    const payload = {
      ...{ iss: issuer, aud: clientId, iat: now, exp: now + 300 },
      ...(nonce !== null && { nonce }),
      ...provider.user.claims,
      ...claims,
    };
    const { kid, alg, privateKey } = keys.at(-1) as (typeof keys)[number];
    const header = { alg: unsigned ? 'none' : alg, kid };
    if (!unsigned) {
      const key: CryptoKey = foreignKey ? foreign.privateKey : privateKey;
      return new SignJWT(payload).setProtectedHeader(header).sign(key);
    }
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    return `${encode(header)}.${encode(payload)}.`;
  }

  async function exchange(req: IncomingMessage): Promise<object> {
    authenticate(req);
    const form = await bodyOf(req);
    demand(form.get('grant_type') === 'authorization_code', 'unsupported_grant_type');
    const grant = grants.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const right =
      grant && !grant.used && grant.redirectUri === form.get('redirect_uri') && grant.challenge === challenge;
    if (!grant || !right) throw new Refused('invalid_grant');
    grant.used = true;
    const accessToken = randomBytes(16).toString('base64url');
    accessTokens.add(accessToken);
    return { access_token: accessToken, token_type: 'Bearer', expires_in: 60, id_token: await idToken(grant.nonce) };
  }

  function userInfo(req: IncomingMessage): object {
    demand(accessTokens.has((req.headers.authorization ?? '').replace(/^Bearer /, '')), 'invalid_token', 401);
    return { sub: provider.user.claims['sub'], ...provider.user.userinfo };
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', issuer);
    provider.asked[pathname] = (provider.asked[pathname] ?? 0) + 1;
    const json = (body: object): void => {
      res.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
      res.end(JSON.stringify(body));
    };
    if (pathname === '/.well-known/openid-configuration') return json(metadata());
    if (pathname === '/jwks') return json({ keys: keys.map(({ jwk }) => jwk) });
    if (pathname === '/token' && req.method === 'POST') return json(await exchange(req));
    if (pathname === '/userinfo') return json(userInfo(req));
    demand(pathname === '/authorize', 'not_found', 404);
    res.writeHead(302, { Location: authorize(searchParams) }).end();
  }

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });

  const provider: OpenIdProvider = {
    ...{ issuer, clientId, clientSecret },
    user: { claims: { sub: 'someone' }, userinfo: {} },
    misbehaviour: {},
    asked: {},
    redirectUris: [],
    async rotate({ keepsOld = true, alg = 'RS256' } = {}) {
      const key = await makeSigningKey(`provider-${randomBytes(4).toString('hex')}`, alg);
      keys.splice(0, keepsOld ? 0 : keys.length);
      keys.push(key);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}
