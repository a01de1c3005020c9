import type { BrokerSession, MintSession } from '../../../shared/contract/broker.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Redis } from '../../sync/redis/connections.ts';
import { storeFault } from '../../sync/redis/faults.ts';
import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../redis/scripts.ts';
import { newSessionId } from './credential.ts';
import { FIELDS_TOLD, LISTED_FIELDS, listedOf, recordOf, type SessionRecord } from './record.ts';

interface Minting {
  app: string;
  request: MintSession;
  idempotencyKey: string;
  digest: string;
  /** Id of the key from which the secret was derived. */
  keyId: string;
}

interface Page {
  nowMs: number;
  places: { sessionId: string; endsAtMs: number }[];
}

/** A meta that changes its session while it is being minted does so because of another mint: a few are enough. */
const MINT_ATTEMPTS = 5;

interface SessionStoreParts {
  redis: Redis;
  scripts: ScriptLoader;
  keys: Keys;
  graceMs: number;
  /** How long an idempotency key is remembered. */
  replaySeconds: number;
}

const raise = (error: unknown): never => {
  throw storeFault(error);
};

/** The sessions of all accounts. What a script refuses is thrown by its code. */
export function makeSessionStore({ redis, scripts, keys, graceMs, replaySeconds }: SessionStoreParts) {
  const mintScript = scripts.load('session-mint.lua', import.meta.url);
  const openScript = scripts.load('session-open.lua', import.meta.url);
  const rotateScript = scripts.load('session-rotate.lua', import.meta.url);
  const useScript = scripts.load('session-use.lua', import.meta.url);
  const pageScript = scripts.load('session-page.lua', import.meta.url);
  const revokeScript = scripts.load('session-revoke.lua', import.meta.url);

  const findByMeta = async (app: string, subject: string, meta: string): Promise<string> =>
    (await redis.hget(keys.metas(subject, app), meta).catch(raise)) ?? '';

  function tryMint(known: string, newId: string, { app, request: r, ...minting }: Minting): Promise<string[]> {
    return mintScript(
      [
        ...[keys.session(known || newId), keys.session(newId), keys.index(r.subject, app)],
        ...[keys.metas(r.subject, app), keys.mint(r.subject, app, minting.idempotencyKey), keys.user(r.subject)],
      ],
      [
        ...[known, newId, app, r.subject, r.meta, r.label, r.scope, r.persist, r.sliding ? '1' : '0'],
        ...[r.ttl_seconds * 1000, minting.digest, minting.keyId, replaySeconds],
      ],
    );
  }

  return {
    findByMeta,

    /** Throws `already_decided`, `idempotency_key_reused`. `keyId`: from which key the session's secret is derived. */
    async mint(minting: Minting): Promise<{ record: SessionRecord; created: boolean; keyId: string }> {
      const { subject, meta } = minting.request;
      const newId = newSessionId(subject);
      let known = await findByMeta(minting.app, subject, meta);
      for (let attempt = 0; attempt < MINT_ATTEMPTS; attempt++) {
        const reply = await tryMint(known, newId, minting);
        if (reply[0] !== 'moved') {
          const [created, keyId = ''] = reply.slice(FIELDS_TOLD);
          return { record: recordOf(reply), created: created === '1', keyId };
        }
        known = reply[1] ?? '';
      }
      throw new BatonError('store_unavailable');
    },

    /** A session without device; also notes the user's name and roles. */
    async open(session: { app: string; subject: string; ttlMs: number; digest: string; name: string; roles: string }) {
      const { app, subject, ttlMs, digest, name, roles } = session;
      const id = newSessionId(subject);
      const reply = await openScript(
        [keys.session(id), keys.index(subject, app), keys.metas(subject, app), keys.user(subject)],
        [id, app, subject, ttlMs, digest, name, roles],
      );
      return recordOf(reply);
    },

    /**
     * Throws `session_expired` (also for what never was a session), `session_revoked`, `reuse_detected`.
     * `place`: which of the digests is the session's now, -1 for `fallback`.
     */
    async rotate(
      app: string,
      { sessionId, digest, next, fallback }: { sessionId: string; digest: string; next: string[]; fallback: string },
    ): Promise<{ record: SessionRecord; place: number }> {
      const reply = await rotateScript(
        [
          ...[keys.session(sessionId), keys.indexOfSession(sessionId, app)],
          ...[keys.metasOfSession(sessionId, app), keys.userOfSession(sessionId)],
        ],
        [sessionId, app, digest, graceMs, fallback, ...next],
      );
      return { record: recordOf(reply), place: Number(reply[FIELDS_TOLD]) - 6 };
    },

    /** `digest` null: the id was proved by an access token. Throws as `rotate`. */
    async use(app: string, { sessionId, digest }: { sessionId: string; digest: string | null }) {
      const reply = await useScript(
        [keys.session(sessionId), keys.userOfSession(sessionId)],
        [sessionId, app, digest ?? '', graceMs],
      );
      return recordOf(reply);
    },

    /** Whose session it is or was; null for one that is not of this app, or was forgotten since. */
    async findOwner(app: string, sessionId: string): Promise<{ subject: string; meta: string } | null> {
      const values = await redis.hmget(keys.session(sessionId), 'app', 'subject', 'meta').catch(raise);
      const [ofApp, subject, meta] = values;
      return ofApp === app && subject ? { subject, meta: meta ?? '' } : null;
    },

    /** Throws `not_found` for a session that is not of this app and subject. */
    async revoke(app: string, { sessionId, subject, reason }: { sessionId: string; subject: string; reason: string }) {
      await revokeScript(
        [keys.session(sessionId), keys.indexOfSession(sessionId, app)],
        [sessionId, app, subject, reason],
      );
    },

    /**
     * Ids of sessions that end at `fromMs` or later, by end and id; some may be over. A session that is renewed while
     * somebody pages may appear twice, never not at all.
     */
    async page(app: string, subject: string, { fromMs, count }: { fromMs: number; count: number }): Promise<Page> {
      const [now, ...flat] = await pageScript([keys.index(subject, app)], [fromMs, count]);
      const places = flat.flatMap((sessionId, i) =>
        i % 2 === 0 ? [{ sessionId, endsAtMs: Number(flat[i + 1]) }] : [],
      );
      return { nowMs: Number(now), places };
    },

    /** What is listed of each session, null where it is over. */
    async read(sessionIds: readonly string[], nowMs: number): Promise<(BrokerSession | null)[]> {
      const commands = redis.pipeline();
      for (const id of sessionIds) commands.hmget(keys.session(id), ...LISTED_FIELDS);
      const replies = (await commands.exec().catch(raise)) ?? [];
      return replies.map(([error, values], i) =>
        error === null ? listedOf(sessionIds[i] as string, values as (string | null)[], nowMs) : raise(error),
      );
    },
  };
}

export type SessionStore = ReturnType<typeof makeSessionStore>;
