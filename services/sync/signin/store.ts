import { LIMITS, RATES } from '../../../shared/contract/limits.ts';
import type { Keys } from '../redis/keys.ts';
import type { ScriptLoader } from '../redis/scripts.ts';

/** How long an ended request is still told apart from one that never was (contract section 4). */
const TOMBSTONE_MS = 600_000;
/** Longer than a mint may take (3 s) with the row after it. */
const LEASE_MS = 6_000;

/** A login request as its script returned it. */
export type LoginFields = Readonly<Record<string, string>>;

export type Look =
  | { state: 'pending' | 'superseded' | 'minting'; expiresAtMs: number; replaced: string }
  | { state: 'leased'; expiresAtMs: number; fence: string; login: LoginFields };

const fieldsOf = (flat: string[]): LoginFields => {
  const fields: Record<string, string> = {};
  for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
  return fields;
};

const flatOf = (fields: Record<string, string>): string[] => Object.entries(fields).flat();

/** Login requests. Secrets reach it only as their SHA-256. */
export function makeLoginStore({ scripts, keys }: { scripts: ScriptLoader; keys: Keys }) {
  const load = (name: string) => scripts.load(`login-${name}.lua`, import.meta.url);
  const [start, poll, read, decide, finish] = [
    ...[load('start'), load('poll'), load('read'), load('decide'), load('finish')],
  ] as const;
  const wrongCodes = scripts.load('wrong-codes.lua', import.meta.url, 'wrong_codes');
  const counting = (account: string, what: 'look' | 'count') =>
    wrongCodes([keys.wrongCodes(account)], [RATES.wrong_codes.limit, RATES.wrong_codes.windowSeconds, what]);

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

    /** Throws `not_found`, `login_expired`, `login_consumed`, `already_decided`. */
    async read(requestId: string, codeDigest: string): Promise<{ nowMs: number; login: LoginFields }> {
      const [now, ...flat] = (await read([keys.login(requestId)], [codeDigest, LIMITS.wrongCodes])) as string[];
      return { nowMs: Number(now), login: fieldsOf(flat) };
    },

    /** Resolves to the waiter to ring, '' for none. Throws as `read`, and `scope_not_allowed`. */
    async decide(
      requestId: string,
      codeDigest: string,
      decision: { operationId: string; state: 'approved' | 'denied'; fields: Record<string, string> },
    ): Promise<string> {
      const { operationId, state, fields } = decision;
      const [waiter] = await decide(
        [keys.login(requestId)],
        [codeDigest, LIMITS.wrongCodes, operationId, state, ...flatOf(fields)],
      );
      return waiter as string;
    },

    /** False: the lease was lost meanwhile. */
    async finish(requestId: string, fence: string, state: 'consumed' | 'denied' | 'approved'): Promise<boolean> {
      const [done] = await finish([keys.login(requestId)], [fence, state]);
      return done === '1';
    },

    /** Throws `rate_limited` for an account that has had too many wrong codes. */
    async checkTries(account: string): Promise<void> {
      await counting(account, 'look');
    },

    /** Throws `rate_limited` where others at the same time had been too many already. */
    async countWrong(account: string): Promise<void> {
      await counting(account, 'count');
    },
  };
}

export type LoginStore = ReturnType<typeof makeLoginStore>;
