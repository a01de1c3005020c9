import { LIMITS } from '../../contract/limits.ts';
import type { BatonClientOptions, CallSettings } from '../api.ts';
import { makeClient } from '../http/client.ts';
import { systemClock } from '../time/clock.ts';
import { abortedBy, failureOf } from '../errors/failure.ts';
import { platformFetch } from '../http/request.ts';
import type { Session, SessionStore } from './session.ts';
import { sessionOf, watchCookies } from './session-answer.ts';
import type { DeviceType, Persist, Scope } from '../wire.ts';

export interface SignInOptions extends CallSettings, Pick<BatonClientOptions, 'baseUrl' | 'headers' | 'fetch'> {
  /** 1 to 32 printable ASCII characters; `proposeDeviceName` makes some of any text. */
  deviceName: string;
  deviceType: DeviceType;
  /** Where the session is saved. */
  session?: SessionStore;
}

/** A device that waits to be let in. */
export interface SignInRequest {
  readonly requestId: string;
  /** To be shown, as a QR code and as text, to whoever approves it. It is no secret that signs anybody in by itself. */
  readonly link: string;
  /** In Unix milliseconds. */
  readonly expiresAt: number;
  /**
   * Waits for the approval; gives the session when it is saved. Rejects with `access_denied`, `login_expired`,
   * `login_consumed`.
   */
  approved(settings?: CallSettings): Promise<Session>;
}

export interface DeviceSessionOptions extends SignInOptions {
  /** Stable for this installation: 8 to 64 of `[A-Za-z0-9_-]`. */
  deviceId: string;
  scope?: Scope;
  persist?: Persist;
}

/** A service that is away for a moment is asked again, as long as the request lives. */
const AGAIN_MS = 1_000;

function connectionOf({ baseUrl, headers, fetch = platformFetch }: SignInOptions) {
  const watched = watchCookies(fetch);
  let aheadMs = 0;
  const client = makeClient({
    ...{ baseUrl, ...(headers !== undefined && { headers }) },
    async fetch(url, init) {
      const answer = await watched.fetch(url, init);
      const date = Date.parse(answer.headers.get('date') ?? '');
      if (!Number.isNaN(date)) aheadMs = date - Date.now();
      return answer;
    },
  });
  /** By the service's clock, to a second or two: this machine's may be wrong by minutes. */
  const serverNow = (): number => Date.now() + aheadMs;
  return { client, credential: watched.credential, serverNow };
}

async function told<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw signal?.aborted ? abortedBy(signal) : failureOf(error);
  }
}

const given = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const cancel = systemClock.after(ms, resolve);
    signal?.addEventListener(
      'abort',
      () => {
        cancel();
        resolve();
      },
      { once: true },
    );
  });
}

/** Asks to be let in by a device that is signed in. */
export async function requestSignIn(options: SignInOptions): Promise<SignInRequest> {
  const { deviceName, deviceType, session: store } = options;
  const { client, credential, serverNow } = connectionOf(options);
  const body = { device_name: deviceName, device_type: deviceType };
  const started = (await told(client.call('startLogin', { body, ...given(options.signal) }), options.signal)).body;

  const poll = (signal: AbortSignal | undefined) =>
    client.call('pollLogin', {
      query: { request_id: started.request_id, wait_ms: LIMITS.pollMs },
      headers: { 'X-Poll-Secret': started.poll_secret },
      timeoutMs: LIMITS.pollMs + 10_000,
      // The answer with the session comes once. Who asks again after that is told that it was used.
      retries: 0,
      ...given(signal),
    });

  async function pollAgain(signal: AbortSignal | undefined): Promise<Session> {
    for (;;) {
      signal?.throwIfAborted();
      try {
        const answer = await poll(signal);
        if (answer.status === 200) return sessionOf(answer.body, credential(), Date.now());
      } catch (error) {
        const failure = failureOf(error);
        if (signal?.aborted || failure.action !== 'retry' || serverNow() > started.expires_at + AGAIN_MS) throw failure;
        await pause(failure.retryAfterMs ?? AGAIN_MS, signal);
      }
    }
  }

  return {
    requestId: started.request_id,
    link: started.qr_payload,
    expiresAt: started.expires_at,
    async approved({ signal = options.signal } = {}) {
      const session = await told(pollAgain(signal), signal);
      await store?.save(session);
      return session;
    },
  };
}

/** Makes the caller of a session without a device one, or renews a device's own session under a new name. */
export async function startDeviceSession(options: DeviceSessionOptions): Promise<Session> {
  const { deviceId, deviceName, deviceType, scope, persist, signal } = options;
  const { client, credential } = connectionOf(options);
  const body = {
    ...{ device_id: deviceId, device_name: deviceName, device_type: deviceType },
    ...(scope !== undefined && { scope }),
    ...(persist !== undefined && { persist }),
  };
  const answer = await told(client.call('startDeviceSession', { body, ...given(signal) }), signal);
  const session = sessionOf(answer.body, credential(), Date.now());
  await options.session?.save(session);
  return session;
}

/** A device name that the service takes, made of any text. */
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
