import { scriptsIn } from '../../../shared/service-kit/redis/scripts/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

/** The beginning of every reply: the session and its user. */
const sessionReply = {
  nowMs: t.number,
  sessionId: t.text,
  app: t.text,
  subject: t.text,
  meta: t.text,
  label: t.text,
  scope: t.oneOf('full', 'guest'),
  persist: t.oneOf('once', 'persist'),
  createdAtMs: t.number,
  lastActiveAtMs: t.number,
  endsAtMs: t.number,
  epoch: t.number,
  name: t.text,
  roles: t.text,
};

export const sessionUse = defineScript('session-use', {
  keys: ['session', 'user'],
  args: {
    id: t.text,
    /** Calling app. */
    app: t.text,
    /** Digest of the secret that is shown, '' with an access token. */
    digest: t.text,
  },
  settings: ['GRACE_MS'],
  reply: t.record(sessionReply),
});

export const sessionOpen = defineScript('session-open', {
  keys: ['session', 'index', 'metas', 'user'],
  args: {
    id: t.text,
    app: t.text,
    subject: t.text,
    /** Lifetime in ms. */
    ttlMs: t.digits,
    /** Digest of the secret. */
    digest: t.text,
    /** Display name. */
    name: t.text,
    /** Roles, comma-separated. */
    roles: t.text,
  },
  reply: t.record(sessionReply),
});

export const sessionRotate = defineScript('session-rotate', {
  keys: ['session', 'index', 'metas', 'user'],
  args: {
    id: t.text,
    /** Calling app. */
    app: t.text,
    /** Digest of the secret that is shown. */
    digest: t.text,
    /** Digests of a random secret, then of those derived from the shown one, nearest first. */
    candidates: t.restOfWords,
  },
  settings: ['GRACE_MS'],
  reply: t.record({ ...sessionReply, chosen: t.number }),
  runsWhenFull: true,
});

export const sessionRevoke = defineScript('session-revoke', {
  keys: ['session', 'index'],
  args: {
    id: t.text,
    /** Calling app. */
    app: t.text,
    subject: t.text,
    reason: t.text,
  },
  reply: t.record({ ended: t.flag }),
  runsWhenFull: true,
});

export const sessionPage = defineScript('session-page', {
  keys: ['index'],
  args: {
    /** End of the first session in ms, at least now. */
    fromMs: t.number,
    /** Number of sessions. */
    count: t.digits,
  },
  reply: t.record({ nowMs: t.number, entries: t.rest(t.rows({ sessionId: t.text, endsAtMs: t.number })) }),
});

export const sessionMint = defineScript('session-mint', {
  /** `session`: the session that the meta had at the lookup; else the same as `newSession`, which is created. */
  keys: ['session', 'newSession', 'index', 'metas', 'mint', 'user'],
  args: {
    /** Id of `session`, '' if the meta had none. */
    known: t.text,
    /** Id of `newSession`. */
    newId: t.text,
    app: t.text,
    subject: t.text,
    meta: t.text,
    label: t.text,
    scope: t.text,
    persist: t.text,
    /** '1': sliding. */
    sliding: t.text,
    /** Lifetime in ms. */
    ttlMs: t.digits,
    /** Digest of the secret. */
    digest: t.text,
    /** Key from which the secret is derived. */
    keyId: t.text,
  },
  settings: ['REPLAY_SECONDS'],
  reply: t.variants('outcome', {
    minted: { ...sessionReply, created: t.flag, keyId: t.text },
    moved: { sessionId: t.text },
  }),
});
