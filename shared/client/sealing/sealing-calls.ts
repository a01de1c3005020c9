import type { SignedOutReason } from '../api.ts';
import { type Caller, makeCaller } from '../http/caller.ts';
import { type BaseUrl, type Fetch, platformFetch } from '../http/request.ts';
import type { Session, SessionStore } from '../session/session.ts';
import { makeSessionKeeper } from '../session/session-keeper.ts';
import { addSealingRoutes } from './routes.ts';
import { systemClock } from '../time/clock.ts';
import { makeServerTime } from '../time/server-time.ts';

/** The calls of the service that sealing makes. */
export interface SealingCalls {
  readonly caller: Caller;
  readonly baseUrl: BaseUrl;
  readonly fetch: Fetch;
  readonly store: SessionStore;
  /** Returns the session in force; null without one. */
  session(): Promise<Session | null>;
  /** Returns the service's time, to a second or two. The clock of this machine may be wrong by minutes. */
  serverNow(): number;
  /**
   * Returns the time that decides who still is a guest: the service's, as far as it is within 10 minutes of this machine's
   * clock. Otherwise a service could prolong the hour of a guest.
   */
  trustedNow(): number;
}

const TRUSTED_MS = 600_000;

/** Makes calls as the device whose session `store` has. The store may be shared with a client, because renewals lock it. */
export function makeSealingCalls({
  baseUrl,
  session: store,
  fetch: given = platformFetch,
  onEnded = () => {},
}: {
  baseUrl: BaseUrl;
  session: SessionStore;
  fetch?: Fetch | undefined;
  onEnded?: ((reason: SignedOutReason) => void) | undefined;
}): SealingCalls {
  addSealingRoutes();
  const time = makeServerTime();
  const fetch: Fetch = async (url, init) => {
    const askedAt = Date.now();
    const answer = await given(url, init);
    time.hear(answer.headers.get('date'), askedAt, Date.now());
    return answer;
  };
  const about = { baseUrl, headers: undefined, fetch, clock: systemClock };
  const keeper = makeSessionKeeper({ ...about, store, onEnded, onProblem: () => {} });
  const never = new AbortController().signal;
  return {
    caller: makeCaller({ ...about, keeper, signal: () => never }),
    ...{ baseUrl, fetch, store },
    session: () => keeper.current(),
    serverNow: () => Date.now() + time.offsetMs(),
    trustedNow: () => Date.now() + Math.min(TRUSTED_MS, Math.max(-TRUSTED_MS, time.offsetMs())),
  };
}
