import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { BROKER_LIMITS } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { type Asserted, callerOf } from './asserted.ts';
import type { IssuerClock } from '../key-sets/issuer-clock.ts';
import { IDENTITY_HEADERS } from './edge.ts';
import { carriesAny, headerOf, refuseAmbiguous } from './headers.ts';
import type { Identity } from '../identity.ts';

const HEADER = 'x-auth-assertion';

/** Only signatures by a private key: no `none`, and no algorithm for which a public key is enough to forge. */
export const ALGORITHMS = ['ES256', 'EdDSA'];

/** How far the clocks of two machines may be apart. */
const CLOCK_TOLERANCE_SECONDS = 5;

interface AssertionParts {
  keySet: JWTVerifyGetKey;
  /** The clock of the issuer, which also publishes the keys. */
  clock: Pick<IssuerClock, 'nowMs'>;
  issuer: string;
  audience: string;
}

const text = (claim: unknown): string => (typeof claim === 'string' ? claim : '');

/** Reads the claims. One of the wrong type counts as absent, except the device, without which it is another session. */
function assertedBy({ sub, scope, meta = '', name, roles }: JWTPayload): Asserted {
  if (typeof meta !== 'string') throw new BatonError('unauthenticated', 'The identity has no valid device id');
  const given: unknown[] = Array.isArray(roles) ? roles : [];
  return { subject: text(sub), scope: text(scope), meta, name: text(name), roles: given.map(text) };
}

/**
 * Makes identity mode `edge` with `APP_EDGE_TRUST=jwt` (CONTRACT.md, "Identity"). The caller comes only from the claims of
 * `X-Auth-Assertion`, a JWT (RFC 7519) of this issuer for this audience that lives at most 60 s. All other identity headers
 * are ignored.
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
      // The broker's access tokens are `at+jwt`, and prove nothing here. A token without a type counts as `JWT`.
      if (!/^(application\/)?jwt$/i.test(protectedHeader.typ ?? 'JWT')) throw new errors.JWTInvalid('another type');
      const { iat = 0, exp = Number.POSITIVE_INFINITY } = payload;
      if (exp - iat > BROKER_LIMITS.assertionSeconds) throw new errors.JWTInvalid('lives too long');
      return payload;
    } catch (error) {
      if (error instanceof BatonError) throw error;
      // Naming the failed check would help only a forger. An unusable key of the set throws a TypeError.
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
