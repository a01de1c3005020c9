import type { BrokerSession, MintSession } from '../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Redis } from '../../../shared/service-kit/redis/connections.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { ScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import type { Keys } from '../redis/keys.ts';
import { newSessionId } from './credentials/credential.ts';
import { LISTED_FIELDS, listedOf, recordOf, type SessionRecord } from './record.ts';
import { sessionMint, sessionOpen, sessionPage, sessionRevoke, sessionRotate, sessionUse } from './scripts.ts';

interface Minting {
  app: string;
  request: MintSession;
  idempotencyKey: string;
  digest: string;
  /** Id of the key from which the secret is derived. */
  keyId: string;
}

interface Page {
  nowMs: number;
  entries: { sessionId: string; endsAtMs: number }[];
}

/** The most tries of a mint. Only another mint changes the session of a meta meanwhile, so a few tries are enough. */
const MINT_ATTEMPTS = 5;

interface SessionStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  graceMs: number;
  /** How long an idempotency key is remembered. */
  replaySeconds: number;
}

/** Makes the store of all accounts' sessions. A refusal of a script is thrown as an error with its code. */
export function makeSessionStore({ redis, scripts, keys, graceMs, replaySeconds }: SessionStoreParts) {
  const mintScript = scripts.define(sessionMint, { REPLAY_SECONDS: replaySeconds });
  const openScript = scripts.define(sessionOpen);
  const rotateScript = scripts.define(sessionRotate, { GRACE_MS: graceMs });
  const useScript = scripts.define(sessionUse, { GRACE_MS: graceMs });
  const pageScript = scripts.define(sessionPage);
  const revokeScript = scripts.define(sessionRevoke);

  const findByMeta = async (app: string, subject: string, meta: string): Promise<string> =>
    (await orFault(redis, () => redis.hget(keys.metas(subject, app), meta))) ?? '';

  function tryMint(known: string, newId: string, { app, request, ...minting }: Minting) {
    const { subject, meta, label, scope, persist, sliding, ttl_seconds: ttlSeconds } = request;
    const { idempotencyKey, digest, keyId } = minting;
    return mintScript(
      {
        session: keys.session(known || newId),
        newSession: keys.session(newId),
        user: keys.user(subject),
        index: keys.index(subject, app),
        metas: keys.metas(subject, app),
        mint: keys.mint(subject, app, idempotencyKey),
      },
      {
        known,
        newId,
        app,
        subject,
        meta,
        label,
        scope,
        persist,
        sliding: sliding ? '1' : '0',
        ttlMs: ttlSeconds * 1000,
        digest,
        keyId,
      },
    );
  }

  return {
    findByMeta,

    /** Mints. Throws `already_decided`, `idempotency_key_reused`. `keyId`: the key from which the secret is derived. */
    async mint(minting: Minting): Promise<{ record: SessionRecord; created: boolean; keyId: string }> {
      const { subject, meta } = minting.request;
      const newId = newSessionId(subject);
      let known = await findByMeta(minting.app, subject, meta);
      for (let attempt = 0; attempt < MINT_ATTEMPTS; attempt++) {
        const minted = await tryMint(known, newId, minting);
        if (minted.outcome === 'minted') {
          const { outcome: _, created, keyId, ...shown } = minted;
          return { record: recordOf(shown), created, keyId };
        }
        known = minted.sessionId;
      }
      throw new BatonError('store_unavailable');
    },

    /** Opens a session without a device. Also stores the user's name and roles. */
    async open(session: { app: string; subject: string; ttlMs: number; digest: string; name: string; roles: string }) {
      const { app, subject, ttlMs, digest, name, roles } = session;
      const id = newSessionId(subject);
      const its = { session: keys.session(id), index: keys.index(subject, app), metas: keys.metas(subject, app) };
      const shown = await openScript(
        { ...its, user: keys.user(subject) },
        { id, app, subject, ttlMs, digest, name, roles },
      );
      return recordOf(shown);
    },

    /**
     * Rotates a secret. Throws `session_expired` (also for an unknown session), `session_revoked`, `reuse_detected`.
     * `place`: the index in `next` of the session's present digest, -1 for `fallback`.
     */
    async rotate(
      app: string,
      { sessionId, digest, next, fallback }: { sessionId: string; digest: string; next: string[]; fallback: string },
    ): Promise<{ record: SessionRecord; place: number }> {
      const { chosen, ...shown } = await rotateScript(
        {
          session: keys.session(sessionId),
          index: keys.indexOfSession(sessionId, app),
          metas: keys.metasOfSession(sessionId, app),
          user: keys.userOfSession(sessionId),
        },
        { id: sessionId, app, digest, candidates: [fallback, ...next] },
      );
      // Lua counts from one, and the first one is the fallback.
      return { record: recordOf(shown), place: chosen - 2 };
    },

    /** Uses a session. `digest` is null if an access token proved the id. Throws as `rotate`. */
    async use(app: string, { sessionId, digest }: { sessionId: string; digest: string | null }) {
      const shown = await useScript(
        { session: keys.session(sessionId), user: keys.userOfSession(sessionId) },
        { id: sessionId, app, digest: digest ?? '' },
      );
      return recordOf(shown);
    },

    /** Resolves to the owner of the session; null if it is not of this app, or is no longer stored. */
    async findOwner(app: string, sessionId: string): Promise<{ subject: string; meta: string } | null> {
      const values = await orFault(redis, () => redis.hmget(keys.session(sessionId), 'app', 'subject', 'meta'));
      const [ofApp, subject, meta] = values;
      return ofApp === app && subject ? { subject, meta: meta ?? '' } : null;
    },

    /** Revokes a session. Throws `not_found` if it is not of this app and subject. */
    async revoke(app: string, { sessionId, subject, reason }: { sessionId: string; subject: string; reason: string }) {
      await revokeScript(
        { session: keys.session(sessionId), index: keys.indexOfSession(sessionId, app) },
        { id: sessionId, app, subject, reason },
      );
    },

    /**
     * Resolves to the ids of sessions that end at `fromMs` or later, ordered by end and id. Some may have ended. A session
     * that is renewed between two pages may appear twice, but is never left out.
     */
    page: (app: string, subject: string, { fromMs, count }: { fromMs: number; count: number }): Promise<Page> =>
      pageScript({ index: keys.index(subject, app) }, { fromMs, count }),

    /** Resolves to each session for a listing; null for an ended one. */
    async read(sessionIds: readonly string[], nowMs: number): Promise<(BrokerSession | null)[]> {
      const found = await orFault(redis, async () => {
        const commands = redis.pipeline();
        for (const id of sessionIds) commands.hmget(keys.session(id), ...LISTED_FIELDS);
        const replies = (await commands.exec()) ?? [];
        return replies.map(([error, values]) => {
          if (error !== null) throw error;
          return values as (string | null)[];
        });
      });
      return found.map((values, i) => listedOf(sessionIds[i] as string, values, nowMs));
    },
  };
}

export type SessionStore = ReturnType<typeof makeSessionStore>;
