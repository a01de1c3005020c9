import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

/** How long an ended request is still told apart from one that never was (CONTRACT.md, "Signing in by a code"). */
const TOMBSTONE_MS = 600_000;
/** Longer than a mint may take (3 s) with the row after it. */
const LEASE_MS = 6_000;

/** A login request as its script returned it. */
export type LoginFields = Readonly<Record<string, string>>;

export type Look =
  | { state: 'pending' | 'superseded' | 'minting'; expiresAtMs: number; replaced: string }
  | { state: 'leased'; expiresAtMs: number; fence: string; login: LoginFields };

interface Decision {
  operationId: string;
  /** Whose caller decides. */
  account: string;
  /** Whether a wrong code of this caller is counted and limited. */
  countsTries: boolean;
  state: 'approved' | 'denied';
  fields: Record<string, string>;
}

const fieldsOf = (flat: string[]): LoginFields => {
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
};

/** Whoever tries codes on one request: refused until its time is over, which is told as every rate limit is. */
function refuseTries([left, life]: string[]): never {
  const [leftSeconds, lifeSeconds] = [left, life].map((ms) => Math.ceil(Number(ms) / 1000));
  throw new BatonError('rate_limited', 'Too many wrong codes were tried for this request', {
    headers: {
      RateLimit: `"wrong_codes"; r=0; t=${leftSeconds}`,
      'RateLimit-Policy': `"wrong_codes"; q=${LIMITS.wrongCodes}; w=${lifeSeconds}`,
    },
    retryAfterSeconds: leftSeconds ?? 1,
  });
}

const flatOf = (fields: Record<string, string>): string[] => Object.entries(fields).flat();

/** Login requests. Secrets reach it only as their SHA-256. */
export function makeLoginStore({ scripts, keys }: { scripts: ScriptLoader; keys: Keys }) {
  const load = (name: string) => scripts.load(`login-${name}.lua`, import.meta.url);
  const [start, poll, read, decide, finish] = [
    ...[load('start'), load('poll'), load('read'), load('decide'), load('finish')],
  ] as const;
  const keysOf = (requestId: string, account: string) => [keys.login(requestId), keys.wrongCodes(requestId, account)];

  return {
    async start(requestId: string, ttlMs: number, fields: Record<string, string>): Promise<{ expiresAtMs: number }> {
      const [, expires] = await start([keys.login(requestId)], [ttlMs, TOMBSTONE_MS, ...flatOf(fields)]);
      return { expiresAtMs: Number(expires) };
    },

    /** Throws `not_found`, `access_denied`, `login_expired`, `login_consumed`. */
    async look(requestId: string, pollDigest: string, waiter: string, isFirst: boolean): Promise<Look> {
      const [state, expires, replaced, fence, ...flat] = (await poll(
        [keys.login(requestId)],
        [pollDigest, waiter, isFirst ? '1' : '0', LEASE_MS],
      )) as string[];
      const expiresAtMs = Number(expires);
      if (state === 'leased') return { state, expiresAtMs, fence: fence as string, login: fieldsOf(flat) };
      return { state: state as 'pending', expiresAtMs, replaced: replaced ?? '' };
    },

    /** Throws `not_found`, `login_expired`, `login_consumed`, `already_decided`, `rate_limited`. */
    async read(requestId: string, codeDigest: string, account: string): Promise<{ nowMs: number; login: LoginFields }> {
      const reply = (await read(keysOf(requestId, account), [codeDigest, LIMITS.wrongCodes])) as string[];
      const [word, now, ...flat] = reply;
      if (word === 'limited') refuseTries(reply.slice(1));
      return { nowMs: Number(now), login: fieldsOf(flat) };
    },

    /** Resolves to the waiter to ring, '' for none. Throws as `read`, and `scope_not_allowed`. */
    async decide(requestId: string, codeDigest: string, decision: Decision): Promise<string> {
      const { operationId, account, countsTries, state, fields } = decision;
      const reply = (await decide(keysOf(requestId, account), [
        ...[codeDigest, countsTries ? LIMITS.wrongCodes : 0, operationId, state],
        ...flatOf(fields),
      ])) as string[];
      const [word, waiter = ''] = reply;
      if (word === 'limited') refuseTries(reply.slice(1));
      return waiter;
    },

    /** False: the lease was lost meanwhile. */
    async finish(requestId: string, fence: string, state: 'consumed' | 'denied' | 'approved'): Promise<boolean> {
      const [done] = await finish([keys.login(requestId)], [fence, state]);
      return done === '1';
    },
  };
}

export type LoginStore = ReturnType<typeof makeLoginStore>;
