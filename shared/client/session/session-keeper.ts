import type { SignedOutReason } from '../api.ts';
import { makeClient } from '../http/client.ts';
import type { Clock } from '../time/clock.ts';
import { failureOf, SESSION_OVER, signedOut } from '../errors/failure.ts';
import type { BaseUrl, Fetch, HeaderSource } from '../http/request.ts';
import type { Session, SessionStore } from './session.ts';
import { sessionOf, watchCookies } from './session-answer.ts';

/** A token is renewed when it has no longer than this, so that what it is sent with arrives in time. */
const MARGIN_MS = 60_000;
/** A session that the cookie carries, or that only waits, is renewed when half of its time is over, or after a day. */
const LONGEST_WAIT_MS = 86_400_000;

interface Parts {
  store: SessionStore;
  baseUrl: BaseUrl;
  headers: HeaderSource | undefined;
  fetch: Fetch;
  clock: Clock;
  /** Called once; the store is empty then. */
  onEnded: (reason: SignedOutReason) => void;
  onProblem: (error: unknown) => void;
}

/** One session of one client: kept in a store that others may share, and renewed once for all who wait. */
export interface SessionKeeper {
  current(): Promise<Session | null>;
  /** The headers that say who asks. Throws `signed_out`. */
  authorization(): Promise<Record<string, string>>;
  /** Renews unless it was renewed since `token` was in force. Throws what keeps it from that. */
  renew(token: string | null): Promise<void>;
  /** The token in force, without renewing it. */
  token(): string | null;
  /** The session is over. */
  end(reason: SignedOutReason): Promise<void>;
  /** Renews a persistent session in time although nobody calls. The function ends that. */
  keepAlive(): () => void;
}

export function makeSessionKeeper(parts: Parts): SessionKeeper {
  const { store, clock, onEnded, onProblem } = parts;
  let session: Session | null | undefined;
  let renewing: Promise<void> | null = null;
  let hasEnded = false;

  async function load(): Promise<Session | null> {
    session = await store.load();
    return session;
  }

  async function current(): Promise<Session | null> {
    if (hasEnded) return null;
    return session ?? load();
  }

  const remainingMs = (of: Session): number => of.access_token_expires_at - clock.now();

  async function ask(known: Session): Promise<void> {
    const { baseUrl, headers, fetch } = parts;
    const watched = watchCookies(fetch);
    const client = makeClient({ baseUrl, ...(headers !== undefined && { headers }), fetch: watched.fetch, clock });
    const body = known.credential === null ? {} : { credential: known.credential };
    const answer = await client.call('refreshSession', { body });
    const credential = known.credential === null ? null : (watched.credential() ?? known.credential);
    const renewed = sessionOf(answer.body, credential, clock.now());
    session = renewed;
    await store.save(renewed);
  }

  /** Another process may have renewed it meanwhile: what it stored is in force, and the secret before it ends soon. */
  async function renewOnce(token: string | null): Promise<void> {
    const known = await load();
    if (known === null) return end('logout');
    if (known.access_token !== null && known.access_token !== token && remainingMs(known) > MARGIN_MS) return;
    try {
      await ask(known);
    } catch (error) {
      const { code } = failureOf(error);
      const reason = code === 'unauthenticated' ? 'expired' : SESSION_OVER[code as keyof typeof SESSION_OVER];
      if (reason !== undefined) await end(reason);
      throw reason === undefined ? error : signedOut();
    }
  }

  function renew(token: string | null): Promise<void> {
    if (hasEnded) return Promise.reject(signedOut());
    if (token !== null && session && session.access_token !== token && remainingMs(session) > MARGIN_MS) {
      return Promise.resolve();
    }
    renewing ??= (store.lock ? store.lock(() => renewOnce(token)) : renewOnce(token)).finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function end(reason: SignedOutReason): Promise<void> {
    if (hasEnded) return;
    hasEnded = true;
    session = null;
    try {
      await store.clear();
    } catch (error) {
      onProblem(error);
    }
    onEnded(reason);
  }

  return {
    current,
    renew,
    end,
    token: () => session?.access_token ?? null,
    async authorization() {
      let known = await current();
      if (known === null) throw signedOut();
      if (known.access_token !== null && remainingMs(known) <= MARGIN_MS) {
        try {
          await renew(known.access_token);
        } catch (error) {
          // What is still in force is used to its end.
          if (hasEnded || remainingMs(known) <= 0) throw error;
        }
        known = await current();
        if (known === null) throw signedOut();
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
