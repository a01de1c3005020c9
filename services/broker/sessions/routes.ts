import { BatonError } from '../../../shared/contract/errors.ts';
import type { VerifiedIdentity } from '../../../shared/contract/broker.ts';
import type { ServiceHandlers } from '../http/api.ts';
import type { SessionList } from './list.ts';
import type { SessionRecord } from './record.ts';
import type { Sessions } from './sessions.ts';

const identityOf = ({ subject, scope, meta, user, sessionId, endsAtMs }: SessionRecord): VerifiedIdentity => ({
  ...{ subject, scope, meta, name: user.name, roles: [...user.roles] },
  ...{ session_id: sessionId, expires_at: endsAtMs },
});

function required(idempotencyKey: string | null): string {
  if (idempotencyKey !== null) return idempotencyKey;
  const errors = [{ path: '/header/Idempotency-Key', message: 'is required' }];
  throw new BatonError('invalid_request', 'Idempotency-Key is required', { errors });
}

export const makeSessionHandlers = ({
  sessions,
  list,
}: {
  sessions: Sessions;
  list: SessionList;
}): ServiceHandlers => ({
  async mintSession({ app, body, idempotencyKey }) {
    const { created, session } = await sessions.mint(app, body, required(idempotencyKey));
    return { status: created ? 201 : 200, body: session };
  },

  rotateSession: async ({ app, body }) => ({ status: 200, body: await sessions.rotate(app, body.credential) }),

  async revokeSession({ app, body }) {
    await sessions.revoke(app, body);
    return { status: 204 };
  },

  listSessions: async ({ app, query }) => ({
    status: 200,
    body: await list(app, query.subject, query.cursor ?? null),
  }),

  async verifySession({ app, body: { credential, access_token: token } }) {
    const session =
      credential === undefined
        ? await sessions.ofAccessToken(app, token ?? '')
        : await sessions.ofCredential(app, credential);
    return { status: 200, body: identityOf(session) };
  },
});
