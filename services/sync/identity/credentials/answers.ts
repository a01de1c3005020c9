import { createHash } from 'node:crypto';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Caller } from '../caller.ts';
import { makeSeen } from '../seen.ts';

/** How long an answer is kept (CONTRACT.md, "Identity"). A revocation that this replica missed takes effect after it. */
const KEEP_MS = 10_000;
/** The most answers of each kind that are kept. A forgotten one costs one more call of the broker. */
const MOST = 10_000;
/** The most credentials remembered as good: more than a replica has streams, at 100 bytes each. */
const MOST_VOUCHED = 50_000;

export interface Vouched {
  readonly caller: Caller;
  /** Unix ms: when the credential expires, as far as is known. */
  readonly endsAtMs: number;
}

/** Asks about a credential. `wasGood`: there was an answer before, and the last one was good. */
type Ask = (wasGood: boolean) => Promise<Vouched>;

interface Kept<T> {
  readonly value: T;
  readonly untilMs: number;
}

interface Parts {
  keepMs?: number;
  most?: number;
  /** For tests. Unix ms. */
  now?: () => number;
}

/** Returns whether the credential itself was refused, and not only left unchecked because of a fault or a rate limit. */
const isRefusal = (error: unknown): error is BatonError =>
  error instanceof BatonError && error.status < 500 && error.code !== 'rate_limited';

/** Keeps an entry, and drops the oldest ones beyond `most`. */
function keep<T>(kept: Map<string, Kept<T>>, key: string, entry: Kept<T>, most: number): void {
  kept.delete(key);
  kept.set(key, entry);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}

/** Returns the value under this key if it has not expired at `nowMs`; else null. */
function find<T>(kept: Map<string, Kept<T>>, key: string, nowMs: number): T | null {
  const entry = kept.get(key);
  if (entry === undefined) return null;
  if (nowMs < entry.untilMs) return entry.value;
  kept.delete(key);
  return null;
}

/** Returns a test for callers of the account's device, or, without a device, for those of the session. */
const isOf =
  (account: string, deviceId: string | null, sessionId: string | null) =>
  (caller: Caller): boolean =>
    caller.account === account && caller.deviceId === deviceId && (deviceId !== null || caller.sessionId === sessionId);

/**
 * Makes a cache of the broker's answers about credentials, for ten seconds. Good and refused ones are kept apart, so that a
 * flood of invented credentials does not push out those of real users. Callers with the same credential share the question
 * that is under way. Credentials themselves are not kept, only their SHA-256.
 */
export function makeAnswers({ keepMs = KEEP_MS, most = MOST, now = Date.now }: Parts = {}) {
  const good = new Map<string, Kept<Caller>>();
  const refused = new Map<string, Kept<BatonError>>();
  const asked = new Map<string, Promise<Caller>>();
  /** Credentials that were good at the last answer, however long ago. */
  const vouched = makeSeen(MOST_VOUCHED);
  /** Ended sessions without a device: the answer to a question asked before the end may arrive after it. */
  const ended = makeSeen(most);
  /** Rises with each revocation: the answer to a question asked before a revocation may be out of date. */
  let generation = 0;

  /** Removes the good answers about these callers and returns their keys. */
  const takeOut = (isMeant: (caller: Caller) => boolean): string[] => {
    generation++;
    asked.clear();
    const keys = [...good].filter(([, { value }]) => isMeant(value)).map(([key]) => key);
    for (const key of keys) good.delete(key);
    return keys;
  };

  const settle = async (key: string, ask: Ask): Promise<Caller> => {
    const askedIn = generation;
    try {
      const { caller, endsAtMs } = await ask(vouched.has(key));
      if (caller.sessionId !== undefined && ended.has(caller.sessionId)) throw new BatonError('session_revoked');
      const untilMs = Math.min(now() + keepMs, endsAtMs);
      vouched.add(key);
      if (askedIn === generation) keep(good, key, { value: caller, untilMs }, most);
      return caller;
    } catch (error) {
      if (isRefusal(error)) {
        vouched.delete(key);
        keep(refused, key, { value: error, untilMs: now() + keepMs }, most);
      }
      throw error;
    }
  };

  return {
    /** Resolves to the caller that `ask` vouches for, or to its answer of the last ten seconds. Throws what `ask` threw. */
    async get(shown: string, ask: Ask): Promise<Caller> {
      const key = createHash('sha256').update(shown).digest('base64');
      const known = find(good, key, now());
      if (known !== null) return known;
      const refusal = find(refused, key, now());
      if (refusal !== null) throw new BatonError(refusal.code, refusal.message);
      const running = asked.get(key);
      if (running !== undefined) return running;
      const question = settle(key, ask).finally(() => {
        if (asked.get(key) === question) asked.delete(key);
      });
      asked.set(key, question);
      return question;
    },

    /** Drops the answers about the account's device, or about all its sessions when `deviceId` is null. */
    forget(account: string, deviceId: string | null): void {
      takeOut((caller) => caller.account === account && (deviceId === null || caller.deviceId === deviceId));
    },

    /**
     * Refuses the sessions of a device, or the named session without a device, which ended for good. From now on every
     * credential that showed one, even long ago, is refused without asking, for as long as it can be remembered.
     */
    refuse(account: string, deviceId: string | null, sessionId: string | null): void {
      if (sessionId !== null) ended.add(sessionId);
      const keys = takeOut(isOf(account, deviceId, sessionId));
      const value = new BatonError('session_revoked');
      for (const key of keys) keep(refused, key, { value, untilMs: Number.POSITIVE_INFINITY }, most);
    },
  };
}
