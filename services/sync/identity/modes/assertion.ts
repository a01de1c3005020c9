import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { BROKER_LIMITS } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { type Asserted, callerOf } from './asserted.ts';
import type { IssuerClock } from '../key-sets/issuer-clock.ts';
import { IDENTITY_HEADERS } from './edge.ts';
import { carriesAny, headerOf, refuseAmbiguous } from './headers.ts';
import type { Identity } from '../identity.ts';

const HEADER = 'x-auth-assertion';

/** Signatures by a private key alone: no `none`, and nothing that a public key could be used to forge. */
export const ALGORITHMS = ['ES256', 'EdDSA'];

/** How far the clocks of two machines may be apart. */
const CLOCK_TOLERANCE_SECONDS = 5;

interface AssertionParts {
  keySet: JWTVerifyGetKey;
  /** That of whoever signs, who also publishes the keys. */
  clock: Pick<IssuerClock, 'nowMs'>;
  issuer: string;
  audience: string;
}

const text = (claim: unknown): string => (typeof claim === 'string' ? claim : '');

/** Claims of another type count as absent, but for the device: without it a session would be another one. */
function assertedBy({ sub, scope, meta = '', name, roles }: JWTPayload): Asserted {
  if (typeof meta !== 'string') throw new BatonError('unauthenticated', 'The identity has no valid device id');
  const given: unknown[] = Array.isArray(roles) ? roles : [];
  return { subject: text(sub), scope: text(scope), meta, name: text(name), roles: given.map(text) };
}

/**
 * Identity mode `edge` with `APP_EDGE_TRUST=jwt` (CONTRACT.md, "Identity"): who is asking stands in the claims of
 * `X-Auth-Assertion` alone, a JWT (RFC 7519) of this issuer for this audience that lives at most 60 s. All other
 * identity headers are ignored.
 */
export function makeAssertionIdentity({ keySet, clock, issuer, audience }: AssertionParts): Identity {
  const verify = async (assertion: string): Promise<JWTPayload> => {
    try {
      const { payload, protectedHeader } = await jwtVerify(assertion, keySet, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        requiredClaims: ['iat', 'exp'],
        maxTokenAge: BROKER_LIMITS.assertionSeconds,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(clock.nowMs()),
      });
      // The broker's access tokens are `at+jwt`, and prove nothing here. An edge that says nothing says `JWT`.
      if (!/^(application\/)?jwt$/i.test(protectedHeader.typ ?? 'JWT')) throw new errors.JWTInvalid('another type');
      const { iat = 0, exp = Number.POSITIVE_INFINITY } = payload;
      if (exp - iat > BROKER_LIMITS.assertionSeconds) throw new errors.JWTInvalid('lives too long');
      return payload;
    } catch (error) {
      if (error instanceof BatonError) throw error;
      // Which check failed helps only who forges; a key of the set that cannot be used is a TypeError.
      if (error instanceof errors.JOSEError || error instanceof TypeError) throw new BatonError('untrusted_edge');
      throw error;
    }
  };

  return {
    async identify(req) {
      refuseAmbiguous(req, [HEADER]);
      const assertion = headerOf(req, HEADER) ?? '';
      if (assertion === '')
        throw new BatonError(carriesAny(req, IDENTITY_HEADERS) ? 'untrusted_edge' : 'unauthenticated');
      return callerOf(assertedBy(await verify(assertion)));
    },
    restoreRow: () => Promise.resolve(false),
  };
}
