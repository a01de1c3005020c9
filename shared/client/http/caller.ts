import { BatonError } from '../../contract/errors.ts';
import type { CallSettings } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { CallAnswer, CallArguments, CallName } from './call.ts';
import { makeClient } from './client.ts';
import { type Clock, untilAborted } from '../time/clock.ts';
import { abortedBy, failureOf, SESSION_OVER } from '../errors/failure.ts';
import { NoAnswerError } from '../errors/no-answer.ts';
import { readRefusal } from '../errors/refusal.ts';
import { type BaseUrl, baseOf, type Fetch, headersOf, type HeaderSource, urlOf } from './request.ts';
import type { SessionKeeper } from '../session/session-keeper.ts';

/** A request whose body is not JSON. */
export interface BytesRequest extends CallSettings {
  method: 'GET' | 'PATCH';
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array<ArrayBuffer> | Blob;
}

/** Makes calls as the device that is signed in. Everything that it throws is a `BatonClientError`. */
export interface Caller {
  call<N extends CallName>(name: N, ...options: CallArguments<N>): Promise<CallAnswer<N>>;
  /** Returns the response when its headers are there; throws if it is not a success. */
  bytes(request: BytesRequest): Promise<Response>;
  /** Returns the headers of a request to `base`, for the stream. */
  headers(base: string): Promise<Record<string, string>>;
  /** Notes that the service accepted the caller's token. */
  accepted(): void;
  /**
   * Finds why the service refused a request. Resolves when an immediate retry makes sense, or throws the error to report.
   */
  mend(error: unknown, token: string | null): Promise<void>;
}

interface Parts {
  baseUrl: BaseUrl;
  headers: HeaderSource | undefined;
  fetch: Fetch;
  clock: Clock;
  /** Null: requests carry only the headers. */
  keeper: SessionKeeper | null;
  /** Aborted when the session is over. */
  signal: () => AbortSignal;
}

export function makeCaller({ baseUrl, fetch, clock, keeper, ...parts }: Parts): Caller {
  const headers = async (base: string) => ({
    ...Object.fromEntries(await headersOf(parts.headers, base)),
    ...(await keeper?.authorization(base)),
  });
  const client = makeClient({ baseUrl, headers, fetch, clock });

  async function mend(error: unknown, token: string | null): Promise<boolean> {
    if (!(error instanceof BatonError) || keeper === null) return false;
    if (Object.hasOwn(SESSION_OVER, error.code)) {
      await keeper.end(SESSION_OVER[error.code as keyof typeof SESSION_OVER]);
      return false;
    }
    if (error.code !== 'unauthenticated') return false;
    return keeper.renewRefused(token);
  }

  /** Returns the error for a session that the service renews but does not accept. To sign in again would not help. */
  function refused(error: unknown): unknown {
    const retryAfterMs = keeper?.refusalPauseMs() ?? null;
    if (retryAfterMs === null || !(error instanceof BatonError) || error.code !== 'unauthenticated') return error;
    const { request_id, status } = failureOf(error);
    const message = 'The service refuses this session';
    const details = { action: 'retry', retryAfterMs, request_id, status, cause: error } as const;
    return new BatonClientError('unauthenticated', message, details);
  }

  async function worked<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const result = await work(signal);
    keeper?.accepted();
    return result;
  }

  /** Runs `work`, and once more with a new token if the service did not accept the first one. */
  async function run<T>(given: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const life = parts.signal();
    // Each call has its own signal, because Node warns about many listeners on one.
    const signal = AbortSignal.any(given === undefined ? [life] : [life, given]);
    try {
      signal.throwIfAborted();
      const token = (await keeper?.current())?.access_token ?? null;
      try {
        return await worked(work, signal);
      } catch (error) {
        if (!(await mend(error, token))) throw refused(error);
      }
      return await worked(work, signal).catch((error: unknown) => {
        throw refused(error);
      });
    } catch (error) {
      throw signal.aborted ? abortedBy(signal) : failureOf(error);
    }
  }

  async function send(request: BytesRequest, signal: AbortSignal): Promise<Response> {
    const base = baseOf(baseUrl);
    const sent = { ...(await untilAborted(headers(base), signal)), ...request.headers };
    const init: RequestInit = { method: request.method, headers: sent, signal, cache: 'no-store', redirect: 'manual' };
    try {
      const answer = fetch(urlOf(base, request.path), request.body ? { ...init, body: request.body } : init);
      const response = await untilAborted(answer, signal);
      if (response.ok) return response;
      const offset = response.headers.get('upload-offset');
      const { error } = await untilAborted(readRefusal(response), signal);
      if (offset !== null) Object.assign((error.extras.members ??= {}), { 'upload-offset': Number(offset) });
      throw error;
    } catch (error) {
      throw error instanceof BatonError ? error : new NoAnswerError('network', error);
    }
  }

  return {
    call: ((name: CallName, options: CallSettings = {}) =>
      run(options.signal, (signal) =>
        (client.call as (name: CallName, options: object) => Promise<unknown>)(name, { ...options, signal }),
      )) as unknown as Caller['call'],
    bytes: (request) => run(request.signal, (signal) => send(request, signal)),
    headers,
    async mend(error, token) {
      if (!(await mend(error, token))) throw refused(error);
    },
    accepted: () => keeper?.accepted(),
  };
}
