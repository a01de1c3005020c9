import { createHash } from 'node:crypto';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Caller } from '../caller.ts';
import { makeSeen } from '../seen.ts';

/** As CONTRACT.md, "Identity", has it. A revocation that this replica did not hear of works after this long. */
const KEEP_MS = 10_000;
/** Answers that are kept of each kind. A forgotten one costs one more call of the broker. */
const MOST = 10_000;
/** Credentials that were good: more than a replica has streams. 100 bytes each. */
const MOST_VOUCHED = 50_000;

export interface Vouched {
  readonly caller: Caller;
  /** Unix ms: when what was shown is over, as far as is known. */
  readonly endsAtMs: number;
}

/** Asks about what was shown; `wasGood`: the answer before, if there was one, was a good one. */
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

/** Refused for what was shown, and not because nobody could say, or was asked. */
const isRefusal = (error: unknown): error is BatonError =>
  error instanceof BatonError && error.status < 500 && error.code !== 'rate_limited';

/** Keeps the newest `most`; the oldest goes first. */
function keep<T>(kept: Map<string, Kept<T>>, key: string, entry: Kept<T>, most: number): void {
  kept.delete(key);
  kept.set(key, entry);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}

/** What is kept under this key and not over at `nowMs`. */
function find<T>(kept: Map<string, Kept<T>>, key: string, nowMs: number): T | null {
  const entry = kept.get(key);
  if (entry === undefined) return null;
  if (nowMs < entry.untilMs) return entry.value;
  kept.delete(key);
  return null;
}

/** Callers of the account's device, or without a device those of the session. */
const isOf =
  (account: string, deviceId: string | null, sessionId: string | null) =>
  (caller: Caller): boolean =>
    caller.account === account && caller.deviceId === deviceId && (deviceId !== null || caller.sessionId === sessionId);

/**
 * What the broker said of credentials, for ten seconds: good ones and refused ones apart, so that a flood of invented
 * ones does not push out those of real users. A question that is on its way is asked once. Credentials themselves are
 * not kept, only their SHA-256.
 */
export function makeAnswers({ keepMs = KEEP_MS, most = MOST, now = Date.now }: Parts = {}) {
  const good = new Map<string, Kept<Caller>>();
  const refused = new Map<string, Kept<BatonError>>();
  const asked = new Map<string, Promise<Caller>>();
  /** What was good when it was asked about last, however long ago. */
  const vouched = makeSeen(MOST_VOUCHED);
  /** Sessions without a device that were ended here: what was asked of them before may be answered after. */
  const ended = makeSeen(most);
  /** Rises with each revocation: what was asked before it may be answered by what was true before it. */
  let generation = 0;

  /** Takes out what was said of these callers; resolves to the keys. */
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
    /** The caller whom `ask` vouches for, or the answer of less than ten seconds ago. Throws what it threw. */
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

    /** Drops what was said of the account's device, or of all its sessions when that is null. */
    forget(account: string, deviceId: string | null): void {
      takeOut((caller) => caller.account === account && (deviceId === null || caller.deviceId === deviceId));
    },

    /**
     * The device's sessions were ended for good, or the one without a device that is named: whatever showed them, even
     * long ago, is refused without asking, for as long as it can be remembered.
     */
    refuse(account: string, deviceId: string | null, sessionId: string | null): void {
      if (sessionId !== null) ended.add(sessionId);
      const keys = takeOut(isOf(account, deviceId, sessionId));
      const value = new BatonError('session_revoked');
      for (const key of keys) keep(refused, key, { value, untilMs: Number.POSITIVE_INFINITY }, most);
    },
  };
}
