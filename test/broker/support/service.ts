import { randomUUID } from 'node:crypto';
import type {
  BrokerSession,
  BrokerSessions,
  EndedSession,
  IssuedSession,
  MintSession,
  RevokeSession,
  VerifiedIdentity,
} from '../../../shared/contract/modules/broker.ts';
import { expectProblem, request, type WireAnswer } from '../../support/wire.ts';
import { TOKEN } from './brokers.ts';

interface Target {
  url: string;
}

type Known<T> = Omit<WireAnswer, 'body'> & { body: T };

/** Checks that a service is refused with this code, and told which session of its own was ended. */
export function expectEnded(
  answer: WireAnswer,
  code: 'session_revoked' | 'reuse_detected',
  { session_id, subject, meta }: Partial<EndedSession> = {},
): void {
  const { session, ...body } = answer.body as { session?: EndedSession };
  expect(session).toEqual({
    session_id: session_id ?? expect.stringMatching(/^[\w-]{44}$/),
    subject: subject ?? expect.any(String),
    meta: meta ?? expect.any(String),
  });
  expectProblem({ ...answer, body }, code);
}

let users = 0;

/** Returns a user that no other test has. */
export const newSubject = (): string => `user-${process.pid}-${users++}`;

/** Returns a mint that is right in every field. */
export const mintOf = (fields: Partial<MintSession> = {}): MintSession => ({
  subject: newSubject(),
  meta: 'device-0001',
  label: 'Laptop',
  scope: 'full',
  persist: 'persist',
  ttl_seconds: 3_600,
  sliding: true,
  device_type: 'linux',
  caller_tier: 'full',
  origin: 'login',
  ...fields,
});

/** Talks to the broker as a service, as the app `baton` unless told otherwise. */
export function serviceOf(broker: Target, { app = 'baton', token = TOKEN } = {}) {
  const headers = { Authorization: `Bearer ${token}`, 'X-Broker-App': app };
  const post = (path: string, body: unknown, more: Record<string, string> = {}) =>
    request(broker, { method: 'POST', path, body, headers: { ...headers, ...more } });

  const tryMint = (fields: MintSession, key: string = randomUUID()) =>
    post('/v1/sessions', fields, { 'Idempotency-Key': key });
  const tryRotate = (credential: string) => post('/v1/sessions/rotate', { credential });
  const tryVerify = (credential: string) => post('/v1/verify', { credential });
  const page = async (subject: string, cursor?: string) => {
    const query = new URLSearchParams({ subject, ...(cursor !== undefined && { cursor }) });
    return (await request(broker, { path: `/v1/sessions?${query}`, headers })) as Known<BrokerSessions>;
  };

  return {
    headers,
    post,
    tryMint,
    tryRotate,
    tryVerify,
    tryVerifyToken: (token_: string) => post('/v1/verify', { access_token: token_ }),
    tryRevoke: (body: RevokeSession) => post('/v1/sessions/revoke', body),
    page,

    async mint(fields: Partial<MintSession> = {}, key?: string): Promise<IssuedSession> {
      const answer = await tryMint(mintOf(fields), key);
      expect([200, 201]).toContain(answer.status);
      return answer.body as IssuedSession;
    },

    async rotate(credential: string): Promise<IssuedSession> {
      const answer = await tryRotate(credential);
      expect(answer.status).toBe(200);
      return answer.body as IssuedSession;
    },

    async verify(credential: string): Promise<VerifiedIdentity> {
      const answer = await tryVerify(credential);
      expect(answer.status).toBe(200);
      return answer.body as VerifiedIdentity;
    },

    async list(subject: string): Promise<BrokerSession[]> {
      const answer = await page(subject);
      expect(answer.status).toBe(200);
      return answer.body.sessions;
    },
  };
}

export type Service = ReturnType<typeof serviceOf>;
