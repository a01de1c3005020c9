import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Db } from '../redis/db.ts';
import { loginDecide, loginFinish, loginPoll, loginRead, loginStart } from './scripts.ts';

/** The fields of a login request, as its script returns them. */
export type LoginFields = Readonly<Record<string, string>>;

interface Decision {
  operationId: string;
  /** The account of the caller that decides. */
  account: string;
  /** Whether a wrong code of this caller is counted and limited. */
  countsTries: boolean;
  state: 'approved' | 'denied';
  fields: Record<string, string>;
}

/** Throws a rate limit for too many wrong codes, until the request ends. */
function refuseTries({ leftMs, lifeMs }: { leftMs: number; lifeMs: number }): never {
  const [leftSeconds, lifeSeconds] = [Math.ceil(leftMs / 1000), Math.ceil(lifeMs / 1000)];
  throw new BatonError('rate_limited', 'Too many wrong codes were tried for this request', {
    headers: {
      RateLimit: `"wrong_codes"; r=0; t=${leftSeconds}`,
      'RateLimit-Policy': `"wrong_codes"; q=${LIMITS.wrongCodes}; w=${lifeSeconds}`,
    },
    retryAfterSeconds: leftSeconds,
  });
}

const flatOf = (fields: Record<string, string>): string[] => Object.entries(fields).flat();

/** Makes the store of login requests. It gets secrets only as their SHA-256. */
export function makeLoginStore({ scripts, keys }: Pick<Db, 'scripts' | 'keys'>) {
  const [start, poll, read] = [scripts.define(loginStart), scripts.define(loginPoll), scripts.define(loginRead)];
  const [decide, finish] = [scripts.define(loginDecide), scripts.define(loginFinish)];
  const keysOf = (requestId: string, account: string) => ({
    login: keys.login(requestId),
    tries: keys.wrongCodes(requestId, account),
  });

  return {
    async start(requestId: string, ttlMs: number, fields: Record<string, string>): Promise<{ expiresAtMs: number }> {
      return await start({ login: keys.login(requestId) }, { ttlMs, fields: flatOf(fields) });
    },

    /** Reads a request for a poll. Throws `not_found`, `access_denied`, `login_expired`, `login_consumed`. */
    poll: (requestId: string, pollDigest: string, waiter: string, isFirst: boolean) =>
      poll({ login: keys.login(requestId) }, { pollDigest, waiter, isFirst }),

    /** Reads a request. Throws `not_found`, `login_expired`, `login_consumed`, `already_decided`, `rate_limited`. */
    async read(requestId: string, codeDigest: string, account: string): Promise<{ nowMs: number; login: LoginFields }> {
      const found = await read(keysOf(requestId, account), { codeDigest, account });
      return found.outcome === 'limited' ? refuseTries(found) : found;
    },

    /**
     * Decides a request. Resolves to the poll to notify and the account that invited, '' for none. Throws as `read`, and
     * `scope_not_allowed`.
     */
    async decide(
      requestId: string,
      codeDigest: string,
      decision: Decision,
    ): Promise<{ waiter: string; inviter: string }> {
      const { operationId, account, countsTries, state, fields } = decision;
      const tries = countsTries ? LIMITS.wrongCodes : 0;
      const done = await decide(keysOf(requestId, account), {
        codeDigest,
        tries,
        operation: operationId,
        account,
        decision: state,
        fields: flatOf(fields),
      });
      return done.outcome === 'limited' ? refuseTries(done) : done;
    },

    /** Ends a lease. Resolves to false if it was lost meanwhile. */
    async finish(requestId: string, fence: string, state: 'consumed' | 'denied' | 'approved'): Promise<boolean> {
      const { done } = await finish({ login: keys.login(requestId) }, { fence, outcome: state });
      return done;
    },
  };
}

export type LoginStore = ReturnType<typeof makeLoginStore>;
