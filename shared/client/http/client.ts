import { BatonError } from '../../contract/errors.ts';
import { formOf } from '../../contract/forms.ts';
import { fillPath, type Route } from '../../contract/vocabulary/route.ts';
import { ROUTES } from '../../contract/routes.ts';
import { backoffMs } from '../time/backoff.ts';
import type { AnyCall, CallAnswer, CallArguments, CallName } from './call.ts';
import { type Clock, pause, systemClock, untilAborted } from '../time/clock.ts';
import { NoAnswerError } from '../errors/no-answer.ts';
import { noteUnknown, outcomeOf } from '../errors/outcome.ts';
import { readRefusal, readText } from '../errors/refusal.ts';
import { misfit } from './misfit.ts';
import { parseJson } from './parse-json.ts';
import { type BaseUrl, baseOf, type Fetch, type HeaderSource, headersOf, platformFetch, urlOf } from './request.ts';

/** Far more than the longest response, a list of transfers with their files. */
const MOST_CHARS = 32 * 1024 * 1024;
const RETRY_BASE_MS = 200;
const RETRY_CAP_MS = 2_000;
/** The longest pause inside a call. When the server asks for a longer one, the call fails and the caller decides. */
const LONGEST_PAUSE_MS = 5_000;

export interface Client {
  /**
   * Makes one request of the route table and returns `{ status, body }`.
   *
   * Throws `BatonError` if the service refuses (`extras` keeps the rest of the problem document; a code that this client
   * does not know is `internal`, the original in `extras.members`) and `NoAnswerError` when no response came. Retries, with
   * jittered back-off, requests that cannot take effect twice: GETs, and routes that honour `Idempotency-Key`, which it
   * chooses when the caller did not. It retries after a missing response, a proxy's own 502 and 504, and 429 and 503 unless
   * their `Retry-After` exceeds 5 s.
   */
  call<N extends CallName>(name: N, ...options: CallArguments<N>): Promise<CallAnswer<N>>;
}

export interface ClientOptions {
  baseUrl: BaseUrl;
  headers?: HeaderSource;
  fetch?: Fetch;
  /** The time for one attempt; default 10 s. A long poll needs more: give it with the call. */
  timeoutMs?: number;
  /** Further attempts after the first; default 2, 0 switches retries off. */
  retries?: number;
  random?: () => number;
  clock?: Clock;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A failed attempt that is worth a retry. `pauseMs`: the pause that the server asks for, 0 when it asks for none. */
interface Failure {
  readonly error: Error;
  readonly pauseMs: number;
}

export function makeClient(options: ClientOptions): Client {
  const { baseUrl, headers, timeoutMs = 10_000, retries = 2, random = Math.random, clock = systemClock } = options;
  const { fetch = platformFetch } = options;

  async function attempt(route: Route, call: AnyCall): Promise<Answer | Failure> {
    const limit = startLimit(clock, call.timeoutMs ?? timeoutMs, call.signal);
    let sent = false;
    let isRead = false;
    try {
      const base = baseOf(baseUrl);
      const url = urlOf(base, pathOf(route, call), call.query);
      const init = initOf(route, call, await untilAborted(headersOf(headers, base), limit.signal));
      sent = true;
      const answer = fetch(url, { ...init, signal: limit.signal });
      const outcome = await untilAborted(
        answer.then((response) => read(route, response)),
        limit.signal,
      );
      isRead = !('error' in outcome);
      return outcome;
    } catch (error) {
      call.signal?.throwIfAborted();
      if (limit.isOver()) return { error: new NoAnswerError('timeout', error), pauseMs: 0 };
      // An error of the caller's own functions is not a network error.
      if (!sent || error instanceof BatonError) throw error;
      return { error: new NoAnswerError('network', error), pauseMs: 0 };
    } finally {
      limit.end(isRead);
    }
  }

  async function repeat(route: Route, call: AnyCall): Promise<Answer> {
    const allowed = route.method === 'GET' || call.idempotencyKey !== undefined ? (call.retries ?? retries) : 0;
    let isUnknown = false;
    const failed = (error: unknown): unknown => {
      if (isUnknown && error instanceof Error) noteUnknown(error);
      return error;
    };
    for (let failures = 0; ; failures += 1) {
      call.signal?.throwIfAborted();
      const outcome = await attempt(route, call).catch((error: unknown) => {
        throw failed(error);
      });
      if (!('error' in outcome)) return outcome;
      if (failures >= allowed || outcome.pauseMs > LONGEST_PAUSE_MS) throw failed(outcome.error);
      isUnknown ||= outcomeOf(outcome.error) === 'unknown';
      await pause(outcome.pauseMs + backoffMs(failures, RETRY_BASE_MS, RETRY_CAP_MS, random), call.signal, clock);
    }
  }

  async function start(name: CallName, given: AnyCall = {}): Promise<Answer> {
    const route: Route = ROUTES[name];
    // All attempts have one key, so that the service answers a retry with the first result.
    return repeat(route, route.idempotent ? { ...given, idempotencyKey: given.idempotencyKey ?? randomKey() } : given);
  }
  return { call: start as unknown as Client['call'] };
}

/** Makes one signal for the deadline and for the caller's abort. `end` frees what is still open, unless all was read. */
function startLimit(clock: Clock, ms: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  let over = false;
  const cancel = clock.after(ms, () => {
    over = true;
    controller.abort();
  });
  const give = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', give, { once: true });
  return {
    signal: controller.signal,
    isOver: () => over,
    end(isRead: boolean) {
      cancel();
      signal?.removeEventListener('abort', give);
      // An abort creates an error with its stack, which costs a fifteenth of a call.
      if (!isRead) controller.abort();
    },
  };
}

/** Parts of a path that lead elsewhere even when they are encoded. */
const LEADS_AWAY = /^\.{0,2}$/;

function pathOf({ path }: Route, { params = {} }: AnyCall): string {
  const wrong = Object.entries(params).find(([, value]) => LEADS_AWAY.test(value));
  if (wrong === undefined) return fillPath(path, params);
  throw new BatonError('invalid_request', `This is no ${wrong[0]}`);
}

function initOf(route: Route, call: AnyCall, headers: Headers): RequestInit {
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  if (call.idempotencyKey !== undefined) headers.set('Idempotency-Key', call.idempotencyKey);
  // A redirect counts as a refusal: to follow it would turn a POST into a GET, or send the token to another host.
  const init: RequestInit = { method: route.method, headers, cache: 'no-store', redirect: 'manual' };
  if (call.body === undefined) return init;
  headers.set('Content-Type', 'application/json');
  return { ...init, body: JSON.stringify(call.body) };
}

type Answers = Route['answers'][number];
const isSchema = (answer: Answers): answer is Exclude<Answers, string | null> =>
  answer !== null && typeof answer !== 'string';

/** Reads a response. Throws a refusal that a retry would meet again. */
async function read(route: Route, response: Response): Promise<Answer | Failure> {
  if (response.ok) return { status: response.status, body: await readBody(route, response) };
  const { error, status, byService } = await readRefusal(response);
  const passing = status === 429 || status === 503 || (!byService && (status === 502 || status === 504));
  if (!passing) throw error;
  return { error, pauseMs: (error.extras.retryAfterSeconds ?? 0) * 1_000 };
}

/**
 * Reads a body that fits the contract. A status that the table does not name (a newer server's) has the body of the route's
 * other responses, or if those are not JSON, the type that it states.
 */
async function readBody({ answers }: Route, response: Response): Promise<unknown> {
  const text = await readText(response, MOST_CHARS);
  const expected = answers[response.status];
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  if (expected === null) return null;
  if (typeof expected === 'string' || (expected === undefined && !isJson)) return text;
  const body = parseJson(text);
  const schema = expected ?? Object.values(answers).find(isSchema);
  const flaw = schema === undefined ? null : misfit(formOf(schema), body);
  if (flaw !== null) {
    const members = { status: response.status };
    throw new BatonError('internal', `The answer is not what the contract says at ${flaw}`, { members });
  }
  return body;
}

/** Returns 128 random bits. `crypto.randomUUID` is missing on pages served over plain http from another machine. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
