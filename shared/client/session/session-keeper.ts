import { BatonError } from '../../contract/errors.ts';
import type { SignedOutReason } from '../api.ts';
import { makeClient } from '../http/client.ts';
import { type Clock, pause } from '../time/clock.ts';
import { failureOf, SESSION_OVER, signedOut } from '../errors/failure.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { type BaseUrl, type Fetch, type HeaderSource, headersOf } from '../http/request.ts';
import { backoffMs } from '../time/backoff.ts';
import { checkService, originOf, originsOf } from './service.ts';
import type { Session, SessionStore } from './session.ts';
import type { DeviceRef, Me } from '../wire.ts';
import { sessionOf, watchCookies } from './session-answer.ts';

/** A token is renewed when it expires within this time, so that requests with it arrive in time. */
const MARGIN_MS = 60_000;
/** The wait after a refusal of a renewed token. */
const REFUSED_BASE_MS = 1_000;
const REFUSED_CAP_MS = 30_000;
/**
 * The pause before a refused renewal is tried once more. A device that is linked gets a new session, which ends all earlier
 * secrets, and the answer with the new one may still be under way to this client or to another tab.
 */
const LATE_ANSWER_MS = 3_000;
/** A session in the cookie, or an idle one, is renewed when half of its time is over, or after a day. */
const LONGEST_WAIT_MS = 86_400_000;

interface Parts {
  store: SessionStore;
  baseUrl: BaseUrl;
  headers: HeaderSource | undefined;
  fetch: Fetch;
  clock: Clock;
  /** Called once, when the store is empty. */
  onEnded: (reason: SignedOutReason) => void;
  onProblem: (error: unknown) => void;
}

/** One session of one client. Its store may be shared, and all waiting calls share one renewal. */
export interface SessionKeeper {
  current(): Promise<Session | null>;
  /** Returns the headers that identify the device at `base`. Throws `signed_out`, and `other_service` before it sends. */
  authorization(base: string): Promise<Record<string, string>>;
  /**
   * Renews `token`, which the service refused. True: an immediate retry makes sense. In a row of refusals that happens once;
   * after that the token is renewed no more often than `refusalPauseMs` says.
   */
  renewRefused(token: string | null): Promise<boolean>;
  /** Returns how long to wait for the next attempt, while renewed tokens are refused; null while they are accepted. */
  refusalPauseMs(): number | null;
  /** False: the service calls the sender of the cookie another device, so the cookie is not of this session any more. */
  isFor(device: DeviceRef | null): boolean;
  /** Notes that the service accepted the session. */
  accepted(): void;
  /** Renews the session, unless it was renewed since `token` was in force. Throws if that fails. */
  renew(token: string | null): Promise<void>;
  /** Returns the token in force, without renewing it. */
  token(): string | null;
  /** Keeps the name and the origins of the service. */
  learn(me: Me): Promise<void>;
  /** Ends the session. */
  end(reason: SignedOutReason): Promise<void>;
  /** Renews a persistent session in time, also without calls. The returned function ends that. */
  keepAlive(): () => void;
}

const isSame = (known: Session, other: Session | null): boolean =>
  (known.device === null || known.device.device_id === other?.device?.device_id) &&
  known.user.user_id === other?.user.user_id;

/** Tells whether a 401 has no code, as from a proxy or a captive portal, which knows nothing about the session. */
const isOfAnother = (error: unknown): boolean =>
  error instanceof BatonError && error.code === 'unauthenticated' && typeof error.extras.members?.['code'] !== 'string';

export function makeSessionKeeper(parts: Parts): SessionKeeper {
  const { store, clock, onEnded, onProblem } = parts;
  let session: Session | null | undefined;
  let renewing: Promise<void> | null = null;
  let hasEnded = false;
  /** The number of renewed tokens that were refused in a row, and the time of the next renewal. */
  let refusals = 0;
  let notBefore = 0;

  /** Loads the stored session. A tab that slept may have missed that somebody else has signed in: the cookie is theirs. */
  async function load(): Promise<Session | null> {
    const kept = await store.load();
    // Whoever ended the session has removed what had to go.
    if (session?.credential === null && !isSame(session, kept)) await end('expired');
    else session = kept;
    return session ?? null;
  }

  async function current(): Promise<Session | null> {
    return hasEnded ? null : (session ?? load());
  }

  const remainingMs = (of: Session): number => of.access_token_expires_at - clock.now();
  /** Tells whether a token ends soon. The margin is limited: a token with a short life would be renewed at each call. */
  const isEnding = (of: Session): boolean =>
    remainingMs(of) <= Math.min(MARGIN_MS, (of.access_token_seconds ?? Infinity) * 250);

  async function ask(known: Session): Promise<void> {
    const { baseUrl, headers, fetch } = parts;
    const watched = watchCookies(fetch);
    let madeAt: string | null = null;
    const client = makeClient({
      ...{ baseUrl, fetch: watched.fetch, clock },
      headers(base) {
        checkService(known, base);
        madeAt = originOf(base);
        return headersOf(headers, base);
      },
    });
    const body = known.credential === null ? {} : { credential: known.credential };
    const answer = await client.call('refreshSession', { body });
    const credential = known.credential === null ? null : (watched.credential() ?? known.credential);
    const renewed = sessionOf(answer.body, credential, clock.now());
    if (!isSame(known, renewed)) throw new BatonClientError('unexpected_answer', 'This is another session now');
    // A session of an older version is bound to the origin of its first renewal.
    const { origins = originsOf(madeAt), service, plain_http } = known;
    session = { ...renewed, origins, service, plain_http };
    try {
      await store.save(session);
    } catch (error) {
      // The token is still valid, and the stored secret keeps working until the new one is used.
      onProblem(error);
    }
  }

  /**
   * Renews the session, unless another process has: then the stored one is in force, and the secret before it ends soon.
   * Resolves to whether another attempt makes sense, because this one was refused. The last one ends the session instead.
   */
  async function renewOnce(token: string | null, isLast = false): Promise<boolean> {
    const known = await load();
    if (known === null) return end('logout').then(() => false);
    if (known.access_token !== token && !isEnding(known)) return false;
    try {
      await ask(known);
      return false;
    } catch (error) {
      if (isOfAnother(error)) {
        const message = 'A proxy refuses this device';
        throw new BatonClientError('unexpected_answer', message, { action: 'retry', cause: error });
      }
      const { code } = failureOf(error);
      const reason = code === 'unauthenticated' ? 'expired' : SESSION_OVER[code as keyof typeof SESSION_OVER];
      if (reason === undefined) throw error;
      if (reason === 'expired' && !isLast) return true;
      await end(reason);
      throw signedOut();
    }
  }

  const locked = <T>(work: () => Promise<T>): Promise<T> => (store.lock ? store.lock(work) : work());

  /** Renews the session, or ends it. The lock is free during the pause, so that another can save what it was given. */
  async function renewOrEnd(token: string | null): Promise<void> {
    if (!(await locked(() => renewOnce(token)))) return;
    await pause(LATE_ANSWER_MS, undefined);
    await locked(() => renewOnce(token, true));
  }

  function renew(token: string | null): Promise<void> {
    if (hasEnded) return Promise.reject(signedOut());
    if (session && session.access_token !== token && !isEnding(session)) return Promise.resolve();
    renewing ??= renewOrEnd(token).finally(() => {
      renewing = null;
    });
    return renewing;
  }

  /** Keeps the name and the origins. The first origin is where the session was made. */
  async function learnOnce({ service, origins: told = [] }: Me): Promise<void> {
    const known = await load();
    if (known === null || hasEnded) return;
    const origins = originsOf(known.origins?.[0] ?? null, told, known.plain_http);
    if (service === known.service && origins.join() === known.origins?.join()) return;
    session = { ...known, origins, service: service ?? known.service };
    await store.save(session);
  }

  async function end(reason: SignedOutReason): Promise<void> {
    if (hasEnded) return;
    hasEnded = true;
    const own = session;
    session = null;
    try {
      const kept = await store.load();
      // Somebody may have signed in again since. That session stays.
      const isAnother = kept !== null && own && kept.device?.device_id !== own.device?.device_id;
      if (!isAnother) await store.clear();
    } catch (error) {
      onProblem(error);
    }
    onEnded(reason);
  }

  return {
    current,
    async learn(me) {
      // A session of an older version is bound at its renewal.
      if (me.origins === undefined || (await current())?.origins === undefined) return;
      await locked(() => learnOnce(me));
    },
    renew,
    end,
    token: () => session?.access_token ?? null,
    // A stream names no device while the service cannot restore its row.
    isFor: (device) => device === null || session?.credential !== null || isSame(session, { ...session, device }),
    accepted() {
      refusals = 0;
    },
    refusalPauseMs: () => (refusals === 0 ? null : Math.max(0, notBefore - clock.now())),
    async renewRefused(token) {
      // If several calls were refused together, one renews, and all continue.
      if (renewing !== null) return renewing.then(() => true);
      if (session && session.access_token !== token) return true;
      const isFirst = refusals === 0;
      if (!isFirst && clock.now() < notBefore) return false;
      refusals += 1;
      notBefore = clock.now() + backoffMs(refusals, REFUSED_BASE_MS, REFUSED_CAP_MS, () => 0.5 + Math.random() / 2);
      await renew(token);
      return isFirst;
    },
    async authorization(base) {
      let known = await current();
      if (known?.access_token === null) known = await load();
      if (known === null) throw signedOut();
      checkService(known, base);
      if (known.access_token !== null && isEnding(known)) {
        try {
          await renew(known.access_token);
        } catch (error) {
          // A session that is still in force is used to its end.
          if (hasEnded || remainingMs(known) <= 0) throw error;
        }
        known = await current();
        if (known === null) throw signedOut();
        checkService(known, base);
      }
      return known.access_token === null ? {} : { Authorization: `Bearer ${known.access_token}` };
    },
    keepAlive() {
      let cancel = () => {};
      let isOver = false;
      const schedule = (known: Session | null): void => {
        if (isOver || known === null || known.persist !== 'persist') return;
        const halfMs = (known.session_expires_at - clock.now()) / 2;
        cancel = clock.after(Math.max(MARGIN_MS, Math.min(halfMs, LONGEST_WAIT_MS)), () => {
          renew(known.access_token).catch(onProblem).then(current).then(schedule).catch(onProblem);
        });
      };
      current().then(schedule).catch(onProblem);
      return () => {
        isOver = true;
        cancel();
      };
    },
  };
}
