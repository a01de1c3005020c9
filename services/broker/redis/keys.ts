import { createHash } from 'node:crypto';

/**
 * Makes the key registry: every key is built only here, and scripts get keys as KEYS. `{u}` is the account's hash tag. Each
 * session id begins with it, so that a credential leads to everything of its account in one slot.
 *
 * | key (`<prefix>:`)        | type   | lifetime                      | what |
 * | {u}:session:<id>         | hash   | 24 h after its end            | one session; of its secrets only SHA-256 |
 * | {u}:index:<app>          | zset   | 24 h after the last end       | `<id> <meta>` by end of the session |
 * | {u}:metas:<app>          | hash   | 24 h after the last end       | meta -> session id |
 * | {u}:mint:<app>:<digest>  | hash   | 600 s                         | the result of an Idempotency-Key, without secrets |
 * | {u}:user                 | hash   | 24 h after the last end       | display name, roles |
 * | {sys}:keys               | hash   | none                          | signing keys: public parts, sealed private parts |
 */
export function makeKeys(prefix: string) {
  const ofSession = (sessionId: string) => `${prefix}:{${accountOf(sessionId)}}`;
  const ofSubject = (subject: string) => `${prefix}:{${accountTag(subject)}}`;
  return {
    session: (sessionId: string) => `${ofSession(sessionId)}:session:${sessionId}`,
    indexOfSession: (sessionId: string, app: string) => `${ofSession(sessionId)}:index:${app}`,
    metasOfSession: (sessionId: string, app: string) => `${ofSession(sessionId)}:metas:${app}`,
    userOfSession: (sessionId: string) => `${ofSession(sessionId)}:user`,
    index: (subject: string, app: string) => `${ofSubject(subject)}:index:${app}`,
    metas: (subject: string, app: string) => `${ofSubject(subject)}:metas:${app}`,
    user: (subject: string) => `${ofSubject(subject)}:user`,
    mint: (subject: string, app: string, idempotencyKey: string) =>
      `${ofSubject(subject)}:mint:${app}:${createHash('sha256').update(idempotencyKey).digest('base64url')}`,
    signingKeys: `${prefix}:{sys}:keys`,
  };
}

export type Keys = ReturnType<typeof makeKeys>;

/** Returns the tag of an account: 128 bits, so that no two subjects share one by chance. Records also hold their subject. */
export const accountTag = (subject: string): string =>
  createHash('sha256').update(subject).digest().subarray(0, 16).toString('base64url');

const TAG_CHARS = 22;

/** Returns the account's tag, with which a session id begins. */
const accountOf = (sessionId: string): string => sessionId.slice(0, TAG_CHARS);
