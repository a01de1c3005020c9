import { randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { BROKER_LIMITS } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Keyring, OwnKey } from '../../keyring/keyring.ts';
import { ALGORITHM } from '../../keyring/signing-key.ts';
import type { SessionRecord } from '../record.ts';

const ACCESS_TOKEN = 'at+jwt';

interface TokensParts {
  keyring: Keyring;
  /** The `iss` of every token. */
  issuer: string;
}

/** The claims that an access token proves. Only the store knows whether its session is still live. */
interface Proven {
  sessionId: string;
  app: string;
  /** The session's epoch when the token was signed. */
  epoch: number;
  expiresAtMs: number;
}

const signed = (key: OwnKey, typ: string, claims: Record<string, unknown>): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, typ, kid: key.id }).sign(key.own.signWith);

/** Makes the functions that sign and check the broker's tokens. All times are the store's. */
export function makeTokens({ keyring, issuer }: TokensParts) {
  return {
    /** Signs an access token (RFC 9068). It lives 5 minutes, and never longer than its session. */
    async accessToken(session: SessionRecord): Promise<{ token: string; expiresInSeconds: number }> {
      const iat = Math.floor(session.nowMs / 1000);
      const exp = Math.min(iat + BROKER_LIMITS.accessTokenSeconds, Math.ceil(session.endsAtMs / 1000));
      const token = await signed(keyring.signing, ACCESS_TOKEN, {
        iss: issuer,
        aud: session.app,
        client_id: session.app,
        sub: session.subject,
        sid: session.sessionId,
        meta: session.meta,
        scope: session.scope,
        epoch: session.epoch,
        iat,
        exp,
        jti: randomBytes(12).toString('base64url'),
      });
      return { token, expiresInSeconds: exp - iat };
    },

    /** Signs an assertion for an edge to pass on: the identity of one request, for at most a minute. */
    assertion(session: SessionRecord): Promise<string> {
      const iat = Math.floor(session.nowMs / 1000);
      return signed(keyring.signing, 'JWT', {
        iss: issuer,
        aud: session.app,
        sub: session.subject,
        scope: session.scope,
        meta: session.meta,
        name: session.user.name,
        roles: session.user.roles,
        iat,
        exp: iat + BROKER_LIMITS.assertionSeconds,
      });
    },

    /** Resolves to null for a text that is no token of this broker. Only the store's clock can judge the expiry. */
    async prove(token: string): Promise<Proven | null> {
      try {
        const { payload } = await jwtVerify(
          token,
          async ({ kid }) => {
            const key = kid === undefined ? null : await keyring.find(kid);
            if (key === null) throw new errors.JWKSNoMatchingKey();
            return key.verifyWith;
          },
          // At the Unix epoch no token has expired.
          { algorithms: [ALGORITHM], typ: ACCESS_TOKEN, issuer, currentDate: new Date(0), requiredClaims: ['exp'] },
        );
        // A token of an older broker has no epoch.
        const { sid, aud, exp = 0, epoch = 0 } = payload;
        if (typeof sid !== 'string' || typeof aud !== 'string' || typeof epoch !== 'number') return null;
        return { sessionId: sid, app: aud, epoch, expiresAtMs: exp * 1000 };
      } catch (error) {
        if (error instanceof BatonError) throw error;
        if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
        throw error;
      }
    },
  };
}

export type Tokens = ReturnType<typeof makeTokens>;
