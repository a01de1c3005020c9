import type { IncomingMessage } from 'node:http';
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { BROKER_LIMITS, type VerifiedIdentity } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { RevokedReason } from '../../../../shared/contract/modules/sessions.ts';
import { makeAnswers, type Vouched } from '../credentials/answers.ts';
import type { IssuerClock } from '../key-sets/issuer-clock.ts';
import { callerOf } from './asserted.ts';
import { ALGORITHMS } from './assertion.ts';
import { accountOf, type Caller } from '../caller.ts';
import { type Shown, shownBy } from '../credentials/credentials.ts';
import type { Identity } from '../identity.ts';
import type { StrangerLimit } from '../credentials/stranger-limit.ts';

/** The broker has the last word. This limit only keeps tokens that expired long ago from being asked about. */
const CLOCK_TOLERANCE_SECONDS = 60;

interface BrokerIdentityParts {
  /** Calls `POST /v1/verify`. Throws the broker's refusals, `broker_unavailable` and `broker_contract`. */
  verify: (shown: Shown) => Promise<VerifiedIdentity>;
  /** The broker's public keys. */
  keySet: JWTVerifyGetKey;
  /** The broker's clock, the only one that judges its tokens. */
  clock: Pick<IssuerClock, 'nowMs'>;
  /** The app's name at the broker: `aud` of its access tokens. */
  app: string;
  cookieName: string;
  clientAddress: (req: IncomingMessage) => string;
  strangers: StrangerLimit;
  /** Returns whether the device was signed out, as far as this replica knows. */
  isRevoked: (account: string, deviceId: string) => boolean;
  /** Resolves to whether the device was signed out, by the store. Throws `store_unavailable`. */
  isTombstoned: (account: string, deviceId: string) => Promise<boolean>;
}

export interface BrokerIdentity extends Identity {
  /**
   * Forgets the answers about a session that ended: that of the device, or the named one without a device. If neither is
   * given, it is not known which session ended, and all answers about the account are forgotten. A signed-out session is
   * refused from now on, even while the broker is unreachable. An expired one may be renewed, so the broker is asked again.
   */
  forget(account: string, deviceId: string | null, reason: RevokedReason, sessionId: string | null): void;
  /**
   * Notes that a sign-in minted the device's session again: earlier answers are void, and no earlier token is enough by
   * itself.
   */
  replaced(account: string, deviceId: string): void;
}

/** Returns the error for a request whose credential was refused. After `unauthenticated` a client refreshes. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof BatonError) || error.status >= 500) return error;
  if (error.code === 'session_revoked' || error.code === 'reuse_detected') return new BatonError('session_revoked');
  if (error.code === 'account_refused') return new BatonError('account_refused');
  if (error.code === 'rate_limited') return error;
  return new BatonError('unauthenticated', error.code === 'session_expired' ? 'The session has ended' : undefined);
}

const isAway = (error: unknown): boolean => error instanceof BatonError && error.code === 'broker_unavailable';

const text = (claim: unknown): string => (typeof claim === 'string' ? claim : '');

/** The most re-minted sessions that are remembered, each as long as an access token lives. One takes 100 bytes. */
const MOST_REPLACED = 10_000;

/** Makes a memory of mints, which recognizes tokens that are older than the last mint of their device's session. */
function makeReplaced({ nowMs }: Pick<IssuerClock, 'nowMs'>) {
  const atSeconds = new Map<string, number>();
  const keyOf = (account: string, deviceId: string) => `${account} ${deviceId}`;
  const nowSeconds = () => Math.floor(nowMs() / 1000);
  return {
    note(account: string, deviceId: string): void {
      for (const [key, at] of atSeconds) {
        const isOver = at + BROKER_LIMITS.accessTokenSeconds + CLOCK_TOLERANCE_SECONDS < nowSeconds();
        if (!isOver && atSeconds.size < MOST_REPLACED) break;
        atSeconds.delete(key);
      }
      atSeconds.delete(keyOf(account, deviceId));
      atSeconds.set(keyOf(account, deviceId), nowSeconds());
    },
    isSince: (account: string, deviceId: string, issuedAt: number): boolean =>
      issuedAt < (atSeconds.get(keyOf(account, deviceId)) ?? Number.NEGATIVE_INFINITY),
  };
}

/** Returns the refusal of a token. A request without a token is told to sign in. */
const invalidToken = (error: errors.JOSEError | TypeError): BatonError => {
  const what = error instanceof errors.JWTExpired ? 'has expired' : 'is not valid';
  return new BatonError('unauthenticated', `The access token ${what}`);
};

/** Resolves to the claims of a token that the broker signed for this app. An invented token never reaches the broker. */
async function claimsOf(
  token: string,
  { keySet, app, clock }: Pick<BrokerIdentityParts, 'keySet' | 'app' | 'clock'>,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keySet, {
      algorithms: ALGORITHMS,
      // RFC 9068, section 2.1.
      typ: 'at+jwt',
      audience: app,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(clock.nowMs()),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalidToken(error);
    throw error;
  }
}

/**
 * Makes identity mode `broker` (CONTRACT.md, "Identity"), for installations without an edge. The broker verifies the access
 * token, after its signature is checked here, or the session cookie. The broker's answers, including refusals, are kept for
 * ten seconds. The number of invented cookies that one client address can have the broker asked about is limited.
 */
export function makeBrokerIdentity(parts: BrokerIdentityParts): BrokerIdentity {
  const { verify, clock, cookieName, clientAddress, strangers, isRevoked, isTombstoned } = parts;
  const answers = makeAnswers();
  const replaced = makeReplaced(clock);

  /** Verifies a credential. A signature or a good answer of the broker proves a session, so only others are limited. */
  const verifyFor = (req: IncomingMessage, shown: Shown, wasGood: boolean): Promise<VerifiedIdentity> =>
    wasGood || 'access_token' in shown ? verify(shown) : strangers.ask(clientAddress(req), () => verify(shown));

  const vouch = async (req: IncomingMessage, shown: Shown, wasGood: boolean): Promise<Vouched> => {
    const claims = 'access_token' in shown ? await claimsOf(shown.access_token, parts) : {};
    const { sub, meta } = claims;
    // The signature proves who the token belongs to. So a signed-out device is refused even if the broker is unreachable.
    if (sub !== undefined && typeof meta === 'string' && isRevoked(accountOf(sub), meta)) {
      throw new BatonError('session_revoked');
    }
    const identity = await verifyFor(req, shown, wasGood).catch((error: unknown) => {
      throw refusalOf(error);
    });
    if (sub !== undefined && sub !== identity.subject) {
      throw new BatonError('broker_contract', 'The auth broker told of another user than the token');
    }
    const tokenEndsAtMs = claims.exp === undefined ? Number.POSITIVE_INFINITY : claims.exp * 1000;
    const caller = { ...callerOf(identity), sessionId: identity.session_id };
    // Answers are kept by the clock of this machine.
    const leftMs = Math.min(identity.expires_at, tokenEndsAtMs) - clock.nowMs();
    return { caller, endsAtMs: Date.now() + leftMs };
  };

  /**
   * Resolves to the caller of a request that ends a session while the broker is unreachable. The signature proves who the
   * token belongs to, and only the broker knows whether its session is still live. The signature is enough to sign a device
   * out, which must not wait for the broker. The guard lets a guest sign out only itself. Throws `otherwise` for a session
   * without a device, and if a sign-in has minted the device's session again since.
   */
  const ending = async (token: string, otherwise: unknown): Promise<Caller> => {
    const { sub, meta, scope, exp = 0, iat = 0 } = await claimsOf(token, parts);
    // Nothing else checks the expiry now, so there is no tolerance.
    if (exp * 1000 <= clock.nowMs()) throw invalidToken(new errors.JWTExpired('over', {}));
    const caller = callerOf({ subject: text(sub), scope: text(scope), meta: text(meta), name: '', roles: [] });
    const { account, deviceId } = caller;
    if (deviceId === null || replaced.isSince(account, deviceId, iat)) throw otherwise;
    if (await isTombstoned(account, deviceId)) throw new BatonError('session_revoked');
    return caller;
  };

  return {
    async identify(req, route) {
      const shown = shownBy(req, cookieName);
      if (shown === null) throw new BatonError('unauthenticated');
      // A token and a credential cannot have the same text: only one of them begins with `v1.`.
      const asked = answers.get('access_token' in shown ? shown.access_token : shown.credential, (wasGood) =>
        vouch(req, shown, wasGood),
      );
      return asked.catch((error: unknown) => {
        if (!route.endsSession || !isAway(error) || !('access_token' in shown)) throw error;
        return ending(shown.access_token, error);
      });
    },
    restoreRow: () => Promise.resolve(false),
    forget(account, deviceId, reason, sessionId) {
      const isKnown = deviceId !== null || sessionId !== null;
      if (reason !== 'expired' && isKnown) answers.refuse(account, deviceId, sessionId);
      else answers.forget(account, deviceId);
    },
    replaced(account, deviceId) {
      replaced.note(account, deviceId);
      answers.forget(account, deviceId);
    },
  };
}
