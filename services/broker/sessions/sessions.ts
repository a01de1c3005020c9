import {
  BROKER_LIMITS,
  type EndedSession,
  type IssuedSession,
  type MintSession,
  type RevokeSession,
  type VerifySession,
} from '../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Keyring } from '../keyring/keyring.ts';
import {
  digestOf,
  formatCredential,
  isSessionId,
  mintedSecret,
  nextSecrets,
  parseCredential,
  randomSecret,
} from './credentials/credential.ts';
import type { SessionRecord } from './record.ts';
import type { SessionStore } from './store.ts';
import type { Tokens } from './credentials/tokens.ts';

/** The most rotations that a tab may be late and still get the present secret. A later one gets another secret. */
const FOLLOWED_ROTATIONS = 8;

interface SessionsParts {
  store: SessionStore;
  keyring: Keyring;
  tokens: Tokens;
  cookieName: string;
  refusedSubjects: readonly string[];
}

/** The user of a login. */
export interface LoggedIn {
  subject: string;
  name: string;
  roles: readonly string[];
}

const expired = (): BatonError => new BatonError('session_expired');

/** Parses a credential. Throws `session_expired` for a text that cannot be one, as for an unknown one. */
function parsed(credential: string) {
  const shown = parseCredential(credential);
  if (shown === null) throw expired();
  return shown;
}

/** Makes checks that throw `account_refused` for users that the operator refuses. */
function makeAdmission(refusedSubjects: readonly string[]) {
  const refused = new Set(refusedSubjects);
  const refuse = (subject: string): void => {
    if (refused.has(subject)) throw new BatonError('account_refused');
  };
  const admitted = (session: SessionRecord): SessionRecord => {
    refuse(session.subject);
    return session;
  };
  return { refuse, admitted };
}

/** Makes the response with which a session is issued. */
const makeIssuing = ({ tokens, cookieName }: Pick<SessionsParts, 'tokens' | 'cookieName'>) =>
  async function issue(session: SessionRecord, secret: string): Promise<IssuedSession> {
    const { token, expiresInSeconds } = await tokens.accessToken(session);
    const leftSeconds = Math.max(1, Math.ceil((session.endsAtMs - session.nowMs) / 1000));
    return {
      session_id: session.sessionId,
      subject: session.subject,
      meta: session.meta,
      label: session.label,
      scope: session.scope,
      tier: session.scope,
      persist: session.persist,
      created_at: session.createdAtMs,
      expires_at: session.endsAtMs,
      cookie: {
        name: cookieName,
        value: formatCredential({ sessionId: session.sessionId, secret }),
        max_age_seconds: session.persist === 'once' ? null : leftSeconds,
      },
      access_token: token,
      expires_in: expiresInSeconds,
      user: { user_id: session.subject, name: session.user.name },
    };
  };

/** Returns the secret of an earlier mint, from the key of that time. */
function secretOf(key: Awaited<ReturnType<Keyring['find']>>, minting: Parameters<typeof mintedSecret>[1]): string {
  if (!key?.own) throw new BatonError('already_decided', 'The key from which this session came is gone');
  return mintedSecret(key.own.derivation, minting);
}

/** Makes the sessions of the broker (CONTRACT.md, "The auth broker"). Every method may throw `store_unavailable`. */
export function makeSessions({ store, keyring, tokens, cookieName, refusedSubjects }: SessionsParts) {
  const { refuse, admitted } = makeAdmission(refusedSubjects);
  const issue = makeIssuing({ tokens, cookieName });

  return {
    /** Mints a session. Throws `tier_exceeded`, `account_refused`, `already_decided`, `idempotency_key_reused`. */
    async mint(app: string, request: MintSession, idempotencyKey: string) {
      if (request.scope === 'full' && request.caller_tier !== 'full') throw new BatonError('tier_exceeded');
      refuse(request.subject);
      const key = keyring.signing.own.derivation;
      const minting = { app, subject: request.subject, meta: request.meta, idempotencyKey };
      const secret = mintedSecret(key, minting);
      const minted = await store.mint({ app, request, idempotencyKey, digest: digestOf(secret), keyId: key.id });
      const given = minted.keyId === key.id ? secret : secretOf(await keyring.find(minted.keyId), minting);
      return { created: minted.created, session: await issue(minted.record, given) };
    },

    /** Rotates a session's secret. Throws `session_expired`, `session_revoked`, `reuse_detected`, `account_refused`. */
    async rotate(app: string, credential: string): Promise<IssuedSession> {
      const shown = parsed(credential);
      const next = nextSecrets(keyring.signing.own.derivation, shown, FOLLOWED_ROTATIONS);
      const fallback = randomSecret();
      const { record, place } = await store.rotate(app, {
        sessionId: shown.sessionId,
        digest: digestOf(shown.secret),
        next: next.map(digestOf),
        fallback: digestOf(fallback),
      });
      return issue(admitted(record), next[place] ?? fallback);
    },

    /** Opens a session without a device, for a user who just logged in. Throws `account_refused`. */
    async open(app: string, { subject, name, roles }: LoggedIn): Promise<{ credential: string }> {
      refuse(subject);
      const secret = randomSecret();
      const ttlMs = BROKER_LIMITS.loginSessionSeconds * 1000;
      const digest = digestOf(secret);
      const { sessionId } = await store.open({ app, subject, ttlMs, digest, name, roles: roles.join(',') });
      return { credential: formatCredential({ sessionId, secret }) };
    },

    /** Resolves to the session of this credential, if this app minted it. Throws the errors of `rotate`. */
    async ofCredential(app: string, credential: string): Promise<SessionRecord> {
      const shown = parsed(credential);
      return admitted(await store.use(app, { sessionId: shown.sessionId, digest: digestOf(shown.secret) }));
    },

    /**
     * Resolves to the session of this access token, if it is of this app. Throws as `rotate` does, and for an expired
     * token.
     */
    async ofAccessToken(app: string, token: string): Promise<SessionRecord> {
      const proven = await tokens.prove(token);
      if (proven?.app !== app) throw expired();
      const session = admitted(await store.use(app, { sessionId: proven.sessionId, digest: null }));
      if (proven.expiresAtMs <= session.nowMs || proven.epoch !== session.epoch) throw expired();
      return session;
    },

    /**
     * Resolves to the app's session, live or ended, that a credential names. That proves nothing: for services only.
     */
    async findNamed(
      app: string,
      { credential = '', access_token: token }: VerifySession,
    ): Promise<EndedSession | null> {
      const named = token === undefined ? parseCredential(credential) : await tokens.prove(token);
      const owner = named && (await store.findOwner(app, named.sessionId));
      return owner && { session_id: named.sessionId, ...owner };
    },

    /** Revokes a session. Throws `not_found` if this user and app never had it, or it is no longer stored. */
    async revoke(app: string, { subject, session_id, meta = '', reason }: RevokeSession): Promise<void> {
      const sessionId = session_id ?? (await store.findByMeta(app, subject, meta));
      if (!isSessionId(sessionId)) throw new BatonError('not_found');
      await store.revoke(app, { sessionId, subject, reason });
    },
  };
}

export type Sessions = ReturnType<typeof makeSessions>;
