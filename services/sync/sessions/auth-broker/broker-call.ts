import { Agent, request } from 'undici';
import { BatonError } from '../../../../shared/contract/errors.ts';

/** The limits of CONTRACT.md, "The auth broker". */
const CONNECT_MS = 500;
const RETRIES = 2;
/** The pauses before the first and the second retry, each multiplied by a random 0.5 to 1. */
const WAIT_MS = [50, 200] as const;
/** A listing page has 100 sessions of less than 1 KB. */
const MOST_BYTES = 1_048_576;

export interface BrokerCall {
  method: 'GET' | 'POST';
  /** The path, with the query. */
  path: string;
  body?: object;
  idempotencyKey?: string;
  /** The time for all tries and the pauses between them. */
  budgetMs: number;
  /** Whether to retry when it is unknown whether the last try took effect. */
  repeatable: boolean;
}

export interface BrokerReply {
  status: number;
  /** Null for an empty body; undefined for a body that is not JSON. */
  body: unknown;
}

interface BrokerCallParts {
  url: string;
  token: string;
  app: string;
  /** Gets the `Date` of each response, when it was asked for and read, and whether a cache kept it (`isKept`). */
  onAnswered: (answer: { date: string | null; isKept: boolean; sentMs: number; readMs: number }) => void;
}

const unavailable = (cause?: unknown): BatonError => new BatonError('broker_unavailable', undefined, { cause });

/** Returns true when the request cannot have reached the broker. */
const neverSent = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    String((error as { code?: unknown } | null)?.code),
  );

/** Returns true when the broker, or a proxy before it, cannot serve the call now. */
const isTransient = (status: number): boolean => status === 429 || status === 502 || status === 503 || status === 504;

function parsed(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Makes calls of the auth broker within a time budget. A call that is safe to repeat is retried at most twice. It follows
 * no redirect, ignores proxy variables, and resolves to any response but a transient one.
 */
export function makeBrokerCall({ url, token, app, onAnswered }: BrokerCallParts) {
  const agent = new Agent({ connect: { timeout: CONNECT_MS }, connections: 64, maxResponseSize: MOST_BYTES });

  /** Makes one try. `leftMs` must be whole, because Node accepts no fractions of a millisecond. */
  async function attempt({ method, path, body, idempotencyKey }: BrokerCall, leftMs: number): Promise<BrokerReply> {
    const sentMs = performance.now();
    const answer = await request(url + path, {
      dispatcher: agent,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'x-broker-app': app,
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(leftMs),
    });
    const { date, age } = answer.headers;
    const isKept = age !== undefined;
    onAnswered({ date: typeof date === 'string' ? date : null, isKept, sentMs, readMs: performance.now() });
    return { status: answer.statusCode, body: parsed(await answer.body.text()) };
  }

  return {
    /** Makes a call, with its retries. Throws `broker_unavailable`. */
    async call(wanted: BrokerCall): Promise<BrokerReply> {
      const deadline = performance.now() + wanted.budgetMs;
      for (let retry = 0; ; retry++) {
        const failure = await attempt(wanted, Math.max(1, Math.ceil(deadline - performance.now()))).then(
          (reply) => (isTransient(reply.status) ? { cause: reply, repeatable: wanted.repeatable } : reply),
          (error: unknown) => ({ cause: error, repeatable: wanted.repeatable || neverSent(error) }),
        );
        if ('status' in failure) return failure;
        const waitMs = (WAIT_MS[retry] ?? 0) * (0.5 + 0.5 * Math.random());
        const hasTime = performance.now() + waitMs < deadline;
        if (!failure.repeatable || retry === RETRIES || !hasTime) throw unavailable(failure.cause);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    },

    /** Ends the connections. Calls that still run fail. */
    close: (): Promise<void> => agent.destroy(),
  };
}
