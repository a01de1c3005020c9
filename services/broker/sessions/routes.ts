import { BatonError } from '../../../shared/contract/errors.ts';
import type { VerifiedIdentity, VerifySession } from '../../../shared/contract/modules/broker.ts';
import type { ServiceHandlers } from '../http/api.ts';
import type { SessionList } from './list.ts';
import type { SessionRecord } from './record.ts';
import type { Sessions } from './sessions.ts';

const identityOf = ({ subject, scope, meta, user, sessionId, endsAtMs }: SessionRecord): VerifiedIdentity => ({
  subject,
  scope,
  meta,
  name: user.name,
  roles: [...user.roles],
  session_id: sessionId,
  expires_at: endsAtMs,
});

function required(idempotencyKey: string | null): string {
  if (idempotencyKey !== null) return idempotencyKey;
  const errors = [{ path: '/header/Idempotency-Key', message: 'is required' }];
  throw new BatonError('invalid_request', 'Idempotency-Key is required', { errors });
}

interface SessionHandlerParts {
  sessions: Sessions;
  list: SessionList;
}

export function makeSessionHandlers({ sessions, list }: SessionHandlerParts): ServiceHandlers {
  /** Names the session in a refusal if that session was ended, because the service may not know of the end. */
  async function orName<T>(app: string, shown: VerifySession, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== 'session_revoked' && code !== 'reuse_detected') throw error;
      const session = await sessions.findNamed(app, shown);
      throw new BatonError(code, undefined, session === null ? {} : { members: { session } });
    }
  }

  return {
    async mintSession({ app, body, idempotencyKey }) {
      const { created, session } = await sessions.mint(app, body, required(idempotencyKey));
      return { status: created ? 201 : 200, body: session };
    },

    rotateSession: async ({ app, body }) => ({
      status: 200,
      body: await orName(app, body, () => sessions.rotate(app, body.credential)),
    }),

    async revokeSession({ app, body }) {
      await sessions.revoke(app, body);
      return { status: 204 };
    },

    listSessions: async ({ app, query }) => ({
      status: 200,
      body: await list(app, query.subject, query.cursor || null),
    }),

    async verifySession({ app, body }) {
      const { credential, access_token: token } = body;
      const session = await orName(app, body, () =>
        credential === undefined ? sessions.ofAccessToken(app, token ?? '') : sessions.ofCredential(app, credential),
      );
      return { status: 200, body: identityOf(session) };
    },
  };
}
