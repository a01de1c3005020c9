import { defineScript } from '../../../shared/service-kit/redis/scripts/script.ts';
import {
  digits,
  flag,
  number,
  oneOf,
  record,
  rest,
  restOfWords,
  rows,
  text,
  variants,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

/** The beginning of every reply: the session and its user. */
const sessionReply = {
  nowMs: number,
  sessionId: text,
  app: text,
  subject: text,
  meta: text,
  label: text,
  scope: oneOf('full', 'guest'),
  persist: oneOf('once', 'persist'),
  createdAtMs: number,
  lastActiveAtMs: number,
  endsAtMs: number,
  epoch: number,
  name: text,
  roles: text,
};

export const sessionUse = defineScript({
  file: new URL('./lua/session-use.lua', import.meta.url),
  keys: ['session', 'user'],
  args: {
    id: text,
    /** Calling app. */
    app: text,
    /** Digest of the secret that is shown, '' with an access token. */
    digest: text,
  },
  settings: ['GRACE_MS'],
  reply: record(sessionReply),
});

export const sessionOpen = defineScript({
  file: new URL('./lua/session-open.lua', import.meta.url),
  keys: ['session', 'index', 'metas', 'user'],
  args: {
    id: text,
    app: text,
    subject: text,
    /** Lifetime in ms. */
    ttlMs: digits,
    /** Digest of the secret. */
    digest: text,
    /** Display name. */
    name: text,
    /** Roles, comma-separated. */
    roles: text,
  },
  reply: record(sessionReply),
});

export const sessionRotate = defineScript({
  file: new URL('./lua/session-rotate.lua', import.meta.url),
  keys: ['session', 'index', 'metas', 'user'],
  args: {
    id: text,
    /** Calling app. */
    app: text,
    /** Digest of the secret that is shown. */
    digest: text,
    /** Digests of a random secret, then of those derived from the shown one, nearest first. */
    candidates: restOfWords,
  },
  settings: ['GRACE_MS'],
  reply: record({ ...sessionReply, chosen: number }),
  runsWhenFull: true,
});

export const sessionRevoke = defineScript({
  file: new URL('./lua/session-revoke.lua', import.meta.url),
  keys: ['session', 'index'],
  args: {
    id: text,
    /** Calling app. */
    app: text,
    subject: text,
    reason: text,
  },
  reply: record({ ended: flag }),
  runsWhenFull: true,
});

export const sessionPage = defineScript({
  file: new URL('./lua/session-page.lua', import.meta.url),
  keys: ['index'],
  args: {
    /** End of the first session in ms, at least now. */
    fromMs: number,
    /** Number of sessions. */
    count: digits,
  },
  reply: record({ nowMs: number, entries: rest(rows({ sessionId: text, endsAtMs: number })) }),
});

export const sessionMint = defineScript({
  file: new URL('./lua/session-mint.lua', import.meta.url),
  /** `session`: the session that the meta had at the lookup; else the same as `newSession`, which is created. */
  keys: ['session', 'newSession', 'index', 'metas', 'mint', 'user'],
  args: {
    /** Id of `session`, '' if the meta had none. */
    known: text,
    /** Id of `newSession`. */
    newId: text,
    app: text,
    subject: text,
    meta: text,
    label: text,
    scope: text,
    persist: text,
    /** '1': sliding. */
    sliding: text,
    /** Lifetime in ms. */
    ttlMs: digits,
    /** Digest of the secret. */
    digest: text,
    /** Key from which the secret is derived. */
    keyId: text,
  },
  settings: ['REPLAY_SECONDS'],
  reply: variants('outcome', { minted: { ...sessionReply, created: flag, keyId: text }, moved: { sessionId: text } }),
});
