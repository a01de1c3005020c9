import { LIMITS } from '../../contract/limits.ts';
import type { BatonClientOptions, CallSettings } from '../api.ts';
import type { ROUTES } from '../../contract/routes.ts';
import type { BodyOf } from '../../contract/vocabulary/route.ts';
import type { SessionAnswer } from '../../contract/modules/sessions.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { type Client, makeClient } from '../http/client.ts';
import { pauseMs } from '../time/backoff.ts';
import { pause } from '../time/clock.ts';
import { abortedBy, failureOf, SESSION_OVER } from '../errors/failure.ts';
import { headersOf, platformFetch } from '../http/request.ts';
import type { Session, SessionStore } from './session.ts';
import { checkPlainHttp, originOf, originsOf, ownLink } from './service.ts';
import { sessionOf, watchCookies } from './session-answer.ts';
import type { DeviceType, Me, Persist, Scope } from '../wire.ts';

export interface SignInOptions extends CallSettings, Pick<BatonClientOptions, 'baseUrl' | 'headers' | 'fetch'> {
  /** 1 to 32 printable ASCII characters; `proposeDeviceName` makes a name from any text. */
  deviceName: string;
  deviceType: DeviceType;
  /** Where the session is saved. */
  session?: SessionStore;
  /** True: the session may cross a network, such as a private one, unencrypted. Else `http:` works only for this machine. */
  plainHttp?: boolean;
}

/** The options of a new device's request. */
export interface RequestOptions extends SignInOptions {
  /** The invite that the device was shown. Only the device that made it gets the question. */
  invite?: string;
  /** The public keys of the device, to which the approver seals (`@baton/client/sealed`). */
  keys?: { enc: string; sig: string };
  /** Called with the approver's sealed grant, and awaited, before the session is saved: the grant comes only once. */
  onApproved?: (requestId: string, sealed?: string) => Promise<void>;
}

/** A device that waits to be let in. */
export interface SignInRequest {
  readonly request_id: string;
  /** The link for the approving user, shown as a QR code and as text. By itself it signs nobody in. */
  readonly link: string;
  /** The end of the request, in Unix milliseconds. */
  readonly expires_at: number;
  /**
   * Waits for the approval. Resolves with the session when it is saved and the service has seen it in use, which must happen
   * within two minutes. Rejects with `access_denied`, `login_expired`, `login_consumed`, and with `not_confirmed` when the
   * session is saved but could not be used in time: the service then ends it, unless a request uses it before.
   */
  approved(settings?: CallSettings): Promise<Session>;
}

export interface DeviceSessionOptions extends SignInOptions {
  /** Stable for this installation: 8 to 64 characters of `[A-Za-z0-9_-]`. */
  deviceId: string;
  scope?: Scope;
  persist?: Persist;
}

/** The pause between requests, even while the service does not answer, as long as the sign-in request lives. */
const AGAIN_MS = 1_000;

/** The pauses between attempts to use a new session, and the time for all of them. */
const CONFIRM_BASE_MS = 500;
const CONFIRM_CAP_MS = 5_000;
const CONFIRM_MS = (LIMITS.claimSeconds * 1_000) / 2;

/** The connection to the service during the sign-in. */
interface Connection {
  readonly client: Client;
  readonly credential: () => string | null;
  /** Returns the address of the last request. */
  readonly base: () => string;
  /** Returns the service's time, to a second or two. The clock of this machine may be wrong by minutes. */
  readonly serverNow: () => number;
}

function connectionOf({ baseUrl, headers, fetch = platformFetch, plainHttp = false }: SignInOptions): Connection {
  const watched = watchCookies(fetch);
  let last = '';
  let aheadMs = 0;
  const client = makeClient({
    baseUrl,
    headers(base) {
      checkPlainHttp(originOf(base), plainHttp);
      last = base;
      return headersOf(headers, base);
    },
    async fetch(url, init) {
      const answer = await watched.fetch(url, init);
      const date = Date.parse(answer.headers.get('date') ?? '');
      if (!Number.isNaN(date)) aheadMs = date - Date.now();
      return answer;
    },
  });
  return { client, credential: watched.credential, base: () => last, serverNow: () => Date.now() + aheadMs };
}

/** Asks who is signed in, with the new session. */
async function askMe(options: SignInOptions, { session, base }: Made, signal: AbortSignal | undefined): Promise<Me> {
  const { headers, fetch = platformFetch } = options;
  const client = makeClient({
    ...{ baseUrl: base, fetch, retries: 0 },
    async headers() {
      const sent = await headersOf(headers, base);
      if (session.access_token !== null) {
        // The request must not carry the cookie of an earlier session.
        sent.delete('cookie');
        sent.set('Authorization', `Bearer ${session.access_token}`);
      }
      return sent;
    },
  });
  return (await client.call('getMe', { signal })).body;
}

/** A new session, and the address where it was made. */
interface Made {
  readonly session: Session;
  readonly base: string;
}

const madeBy = (
  { credential, base }: Connection,
  { plainHttp = false }: SignInOptions,
  answer: SessionAnswer,
): Made => ({
  base: base(),
  session: {
    ...sessionOf(answer, credential(), Date.now()),
    origins: originsOf(originOf(base())),
    plain_http: plainHttp || undefined,
  },
});

/** Returns the session with the name and origins of the service. */
function named({ session, base }: Made, me: Me): Session {
  const origins = originsOf(originOf(base), me.origins, session.plain_http);
  return { ...session, origins, service: me.service };
}

/**
 * Tells whether the session is over, or does not come from such a service. After any other refusal it may be valid, and it
 * comes only once.
 */
const isRefuted = ({ code, status }: BatonClientError): boolean =>
  Object.hasOwn(SESSION_OVER, code) || (code === 'unexpected_answer' && status !== null && status < 300);

/** Saves the session at once, because it comes only once, and uses it until the service has seen that. */
async function confirm(options: SignInOptions, made: Made, signal: AbortSignal | undefined): Promise<Session> {
  const { session: store } = options;
  await store?.save(made.session);
  const until = Date.now() + CONFIRM_MS;
  for (let failures = 0; ; failures += 1) {
    try {
      const session = named(made, await askMe(options, made, signal));
      await store?.save(session);
      return session;
    } catch (error) {
      const failure = failureOf(error);
      if (signal?.aborted) throw abortedBy(signal);
      if (isRefuted(failure)) {
        await store?.clear();
        throw failure;
      }
      // An error of this program itself, such as one of its headers, would occur again.
      if (failure.action !== 'retry' && failure.status === null) throw failure;
      // A replica that does not know the key of the new token yet will learn it, and a refusing proxy may be reconfigured.
      const waitMs = pauseMs(failures, failure.retryAfterMs, CONFIRM_BASE_MS, CONFIRM_CAP_MS);
      if (Date.now() + waitMs > until) throw notConfirmed(failure);
      await pause(waitMs, signal);
    }
  }
}

const notConfirmed = (cause: BatonClientError): BatonClientError =>
  new BatonClientError('not_confirmed', 'The device was let in: ask again soon', {
    action: 'retry',
    cause,
  });

async function told<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw signal?.aborted ? abortedBy(signal) : failureOf(error);
  }
}

/** Asks a device that is signed in to let this one in. Throws `not_found` for an invite that was used, or is over. */
export async function requestSignIn(options: RequestOptions): Promise<SignInRequest> {
  const { deviceName, deviceType, invite, keys } = options;
  const connection = connectionOf(options);
  const { client, serverNow } = connection;
  // JSON leaves out undefined fields.
  const body = { device_name: deviceName, device_type: deviceType, invite, keys } as BodyOf<typeof ROUTES.startLogin>;
  const started = (await told(client.call('startLogin', { body, signal: options.signal }), options.signal)).body;

  const poll = (signal: AbortSignal | undefined) =>
    client.call('pollLogin', {
      query: { request_id: started.request_id, wait_ms: LIMITS.pollMs },
      headers: { 'X-Poll-Secret': started.poll_secret },
      timeoutMs: LIMITS.pollMs + 10_000,
      // The response with the session comes once. A later request gets the error that it was used.
      retries: 0,
      signal,
    });

  async function pollAgain(signal: AbortSignal | undefined): Promise<Made> {
    for (;;) {
      const askedAt = Date.now();
      try {
        const answer = await poll(signal);
        if (answer.status === 200) {
          await options.onApproved?.(started.request_id, answer.body.sealed);
          return madeBy(connection, options, answer.body);
        }
        // If the service answers without waiting, the client waits here.
        if (Date.now() - askedAt < AGAIN_MS) await pause(AGAIN_MS, signal);
      } catch (error) {
        const failure = failureOf(error);
        // After a wait until its end, this request can let nobody in.
        const isOver = () => serverNow() + (failure.retryAfterMs ?? 0) > started.expires_at;
        if (signal?.aborted || failure.action !== 'retry' || isOver()) throw failure;
        await pause(failure.retryAfterMs ?? AGAIN_MS, signal);
      }
    }
  }

  return {
    request_id: started.request_id,
    link: ownLink(started.qr_payload, started.request_id, connection.base()),
    expires_at: started.expires_at,
    async approved({ signal = options.signal } = {}) {
      const made = await told(pollAgain(signal), signal);
      return told(confirm(options, made, signal), signal);
    },
  };
}

/** Makes a device of a session without one, or renews a device's own session under a new name. */
export async function startDeviceSession(options: DeviceSessionOptions): Promise<Session> {
  const { deviceId, deviceName, deviceType, scope, persist, signal } = options;
  const connection = connectionOf(options);
  const { client } = connection;
  const device = { device_id: deviceId, device_name: deviceName, device_type: deviceType };
  const body = { ...device, scope, persist } as BodyOf<typeof ROUTES.startDeviceSession>;
  const answer = await told(client.call('startDeviceSession', { body, signal }), signal);
  const made = madeBy(connection, options, answer.body);
  await options.session?.save(made.session);
  // A page sends its session only to its own origin.
  if (made.session.credential === null) return made.session;
  try {
    const session = named(made, await askMe(options, made, signal));
    await options.session?.save(session);
    return session;
  } catch {
    // The session works without them, at the address where it was made.
    return made.session;
  }
}

/** Makes a device name that the service takes from any text. */
export function proposeDeviceName(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]+/g, '-')
    .trim()
    .slice(0, LIMITS.deviceNameChars)
    .trim();
  return /[A-Za-z0-9]/.test(plain) ? plain : 'Device';
}
