import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import {
  type BrokerSession,
  BrokerSessions,
  EndedSession,
  IssuedSession,
  type MintSession,
  type RevokeSession,
  VerifiedIdentity,
} from '../../../../shared/contract/modules/broker.ts';
import { cutText } from '../../../../shared/contract/vocabulary/fields.ts';
import { BatonError, type ErrorCode, isErrorCode } from '../../../../shared/contract/errors.ts';
import type { Logger } from 'pino';
import { isDeviceId } from '../../identity/device-id.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { makeBreaker } from './breaker.ts';
import { type BrokerCall, type BrokerReply, makeBrokerCall } from './broker-call.ts';
import { makeBrokerWatch } from './broker-watch.ts';

/** The time limits of CONTRACT.md, "The auth broker". */
const MINT_BUDGET_MS = 3_000;
const BUDGET_MS = 2_000;
/** The most pages of a listing, to bound one that never ends. Accounts have far fewer sessions. */
const MOST_PAGES = 20;

const OPERATIONS = ['mint', 'rotate', 'revoke', 'list', 'verify'] as const;
type Operation = (typeof OPERATIONS)[number];

/** The refusals that each operation may get. Any other one breaches the contract with the broker. */
const REFUSALS: Readonly<Record<Operation, readonly ErrorCode[]>> = {
  mint: ['tier_exceeded', 'account_refused', 'already_decided', 'idempotency_key_reused'],
  rotate: ['session_expired', 'session_revoked', 'reuse_detected', 'account_refused'],
  revoke: ['not_found'],
  list: [],
  verify: ['session_expired', 'session_revoked', 'reuse_detected', 'account_refused'],
};

const ASKED_ABOUT_A_CREDENTIAL: readonly Operation[] = ['rotate', 'verify'];

const ajv = new Ajv2020({ strict: true, strictRequired: false, validateSchema: false });
const isIssued = ajv.compile<IssuedSession>(IssuedSession);
const isListing = ajv.compile<BrokerSessions>(BrokerSessions);
const isIdentity = ajv.compile<VerifiedIdentity>(VerifiedIdentity);
const isEnded = ajv.compile<EndedSession>(EndedSession);

const breach = (detail: string): BatonError => new BatonError('broker_contract', detail);

/** Returns the body if it is valid and fits the request. Throws `broker_contract` otherwise. */
function checked<T>({ body }: BrokerReply, isValid: ValidateFunction<T>, fits: (answer: T) => boolean): T {
  if (!isValid(body)) throw breach('The auth broker gave an answer that is not in its contract');
  if (!fits(body)) throw breach('The auth broker answered about something else');
  return body;
}

function refusalOf(operation: Operation, { status, body }: BrokerReply): BatonError {
  const code = (body as { code?: unknown } | null | undefined)?.code;
  if (typeof code === 'string' && isErrorCode(code) && REFUSALS[operation].includes(code)) return new BatonError(code);
  // `unauthenticated` is about our own token. Any other 401 is about the credential that was asked about.
  const isAboutUs = code === 'unauthenticated' || !ASKED_ABOUT_A_CREDENTIAL.includes(operation);
  if (status === 401 && !isAboutUs) return new BatonError('session_expired');
  if (status >= 500) return new BatonError('broker_unavailable');
  return breach(`The auth broker refused with ${status}`);
}

/** Returns whether the session is one of this service: without a device, or of a device that could show it here. */
const isOwn = ({ meta }: Pick<BrokerSession, 'meta'>): boolean => meta === '' || isDeviceId(meta);

/** Returns the sessions that this service can name. Any other session must not make the whole list unreadable. */
const namedOf = (sessions: BrokerSession[]): BrokerSession[] =>
  sessions.filter(isOwn).map((session) => ({ ...session, label: cutText(session.label) }));

/** Returns the id of the session that a credential belongs to. */
const sessionOf = (credential: string): string | undefined => credential.split('.')[1];

/** Returns the session that a refusal names as ended; null if it names none, or not the one that was asked about. */
function endedBy({ body: asked }: BrokerCall, { status, body }: BrokerReply): EndedSession | null {
  const { code, session } = (body ?? {}) as { code?: unknown; session?: unknown };
  const isOver = status === 401 && (code === 'session_revoked' || code === 'reuse_detected');
  if (!isOver || !isEnded(session)) return null;
  const { credential } = (asked ?? {}) as { credential?: string };
  return credential === undefined || sessionOf(credential) === session.session_id ? session : null;
}

/** Returns whether an error counts for the breaker. A wrong answer for one account does not, as it must not block all. */
const countsAsFailure = (error: unknown): boolean =>
  !(error instanceof BatonError) || error.code === 'broker_unavailable';

/** A subject that no user has. */
const PROBED_SUBJECT = 'baton-probe';

export interface MintedSession extends IssuedSession {
  /** False if the device had this session before. Its earlier secrets are then void. */
  isNew: boolean;
}

interface BrokerClientParts {
  url: string;
  token: string;
  app: string;
  metrics: Pick<Metrics, 'broker_requests_total' | 'broker_breaker_open' | 'broker_up'>;
  logger: Logger;
  /** Called when a credential or token was refused because its session was ended, maybe not by us. */
  onEnded: (session: EndedSession) => void;
  onAnswered?: Parameters<typeof makeBrokerCall>[0]['onAnswered'];
}

/** Makes calls of the broker with a breaker for each operation, counts their outcomes, and reports sessions it ended. */
function makeAsking({ url, token, app, metrics, logger, onEnded, onAnswered = () => undefined }: BrokerClientParts) {
  const broker = makeBrokerCall({ url, token, app, onAnswered });
  const failing = new Set<Operation>();
  const breakers = Object.fromEntries(
    OPERATIONS.map((operation) => {
      metrics.broker_breaker_open.set({ operation }, 0);
      const onChange = (isOpen: boolean) => {
        metrics.broker_breaker_open.set({ operation }, isOpen ? 1 : 0);
        if (isOpen) failing.add(operation);
        else failing.delete(operation);
      };
      return [operation, makeBreaker({ onChange })];
    }),
  ) as Record<Operation, ReturnType<typeof makeBreaker>>;

  async function ask<T>(operation: Operation, call: BrokerCall, read: (reply: BrokerReply) => T): Promise<T> {
    const work = async (): Promise<T> => {
      const reply = await broker.call(call);
      if (reply.status >= 300) {
        const ended = endedBy(call, reply);
        if (ended !== null) onEnded(ended);
        throw refusalOf(operation, reply);
      }
      return read(reply);
    };
    try {
      const result = await breakers[operation].call(work, countsAsFailure);
      metrics.broker_requests_total.inc({ operation, outcome: 'ok' });
      return result;
    } catch (error) {
      if (countsAsFailure(error)) watch.recheck();
      metrics.broker_requests_total.inc({ operation, outcome: error instanceof BatonError ? error.code : 'internal' });
      throw error;
    }
  }

  /** Lists the sessions of no user. This shows that the broker answers, accepts our token, and reaches its store. */
  const probe = () => {
    const path = `/v1/sessions?${new URLSearchParams({ subject: PROBED_SUBJECT })}`;
    return ask('list', { method: 'GET', path, budgetMs: BUDGET_MS, repeatable: true }, () => undefined);
  };
  const watch = makeBrokerWatch({ url, probe, up: metrics.broker_up, logger });

  return {
    ask,
    /** Asks now, and then regularly. */
    start: watch.start,
    status: () => ({ ...watch.status(), failing: [...failing] }),
    close(): Promise<void> {
      watch.stop();
      return broker.close();
    },
  };
}

/**
 * Makes the client of the auth broker (CONTRACT.md, "The auth broker"). Every response is checked against its schema and
 * its request. Every method throws `broker_unavailable` and `broker_contract` besides the errors that it names.
 */
export function makeBrokerClient(parts: BrokerClientParts) {
  const { ask, start, status, close } = makeAsking(parts);

  return {
    /**
     * Mints a session of a device: a new one, or the one it has, with a new secret that replaces all earlier ones. The same
     * key gives the same session and secret.
     * Throws `tier_exceeded`, `account_refused`, `already_decided` (the key's session has ended or has a later secret),
     * `idempotency_key_reused`.
     */
    mint(body: MintSession, idempotencyKey: string): Promise<MintedSession> {
      const fits = (issued: IssuedSession) =>
        issued.subject === body.subject &&
        issued.meta === body.meta &&
        issued.scope === body.scope &&
        issued.persist === body.persist &&
        issued.user.user_id === body.subject;
      return ask(
        'mint',
        { method: 'POST', path: '/v1/sessions', body, idempotencyKey, budgetMs: MINT_BUDGET_MS, repeatable: true },
        (reply) => ({ ...checked(reply, isIssued, fits), isNew: reply.status === 201 }),
      );
    },

    /** Issues a session's next secret. Throws `session_expired`, `session_revoked`, `reuse_detected`, `account_refused`. */
    rotate(credential: string): Promise<IssuedSession> {
      const body = { credential };
      return ask(
        'rotate',
        { method: 'POST', path: '/v1/sessions/rotate', body, budgetMs: BUDGET_MS, repeatable: false },
        (reply) => checked(reply, isIssued, (issued) => sessionOf(credential) === issued.session_id && isOwn(issued)),
      );
    },

    /** Revokes a session. Also resolves if it was already revoked, or never existed. */
    async revoke(body: RevokeSession): Promise<void> {
      const call = {
        method: 'POST',
        path: '/v1/sessions/revoke',
        body,
        budgetMs: BUDGET_MS,
        repeatable: true,
      } as const;
      await ask('revoke', call, () => undefined).catch((error: unknown) => {
        if (!(error instanceof BatonError && error.code === 'not_found')) throw error;
      });
    },

    /** Resolves to all sessions of a user at this app, also those without a device. Leaves out invalid device ids. */
    async list(subject: string): Promise<BrokerSession[]> {
      const sessions: BrokerSession[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < MOST_PAGES; page++) {
        const query = new URLSearchParams({ subject, ...(cursor !== null && { cursor }) });
        const call = { method: 'GET', path: `/v1/sessions?${query}`, budgetMs: BUDGET_MS, repeatable: true } as const;
        const listing: BrokerSessions = await ask('list', call, (reply) => checked(reply, isListing, () => true));
        sessions.push(...namedOf(listing.sessions));
        cursor = listing.next_cursor;
        if (cursor === null) return sessions;
      }
      throw breach('The auth broker lists sessions without end');
    },

    /** Verifies a credential. Throws `session_expired`, `session_revoked`, `reuse_detected`, `account_refused`. */
    verify(shown: { credential: string } | { access_token: string }): Promise<VerifiedIdentity> {
      const call = { method: 'POST', path: '/v1/verify', body: shown, budgetMs: BUDGET_MS, repeatable: true } as const;
      // The signature of a token has already proved who it belongs to.
      const fits = ({ session_id: id }: VerifiedIdentity) =>
        !('credential' in shown) || sessionOf(shown.credential) === id;
      return ask('verify', call, (reply) => checked(reply, isIdentity, fits));
    },

    start,

    /** Returns whether the broker can be used, and if not, why. `failing`: the operations whose breaker is open. */
    status,

    close,
  };
}

export type BrokerClient = ReturnType<typeof makeBrokerClient>;
