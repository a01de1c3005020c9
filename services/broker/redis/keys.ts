import { createHash } from 'node:crypto';

/**
 * The key registry: every key is built here and nowhere else; scripts get them as KEYS. `{u}` is the account's hash
 * tag, which begins each session id, so that whoever holds a credential finds everything of its account in one slot.
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

/** 128 bits: two subjects never share one by chance, and records tell their subject anyway. */
export const accountTag = (subject: string): string =>
  createHash('sha256').update(subject).digest().subarray(0, 16).toString('base64url');

const TAG_CHARS = 22;

/** The account's tag, as it begins a session id. */
const accountOf = (sessionId: string): string => sessionId.slice(0, TAG_CHARS);
