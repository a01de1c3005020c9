import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { IssuerClock } from './issuer-clock.ts';
import type { KeySetStore } from './key-set-store.ts';
import { KEEP_MS } from '../scripts.ts';

/** A key set is a few kilobytes; more is not one. */
const MOST_BYTES = 262_144;
/** After this long it is fetched again, beside the requests, which go on with the keys at hand. */
const FRESH_MS = 300_000;
const FETCH_MS = 2_000;
/** An unknown key id may be a new key, or anybody's invention: it is worth one fetch in so long. */
const COOL_DOWN_MS = 30_000;
/** Without any key nobody can be let in, so that waiting is worse than asking again. */
const FIRST_KEYS_PAUSE_MS = 1_000;
/** A broker that starts beside us takes some seconds: failures in the background are told from this pause on. */
const TOLD_FROM_MS = 8_000;
/** The longest pause between two tries in the background. */
const LONGEST_PAUSE_MS = 30_000;

interface KeySetParts {
  url: string;
  /** Where replicas keep the last good set for each other; null: nowhere. */
  store?: KeySetStore | null;
  /** Hears what time it is there. */
  clock?: IssuerClock | null;
  onFailure: (task: string, error: unknown) => void;
  /** For tests. Milliseconds of a clock that never goes back. */
  now?: () => number;
}

async function readBounded(answer: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, bytes] = ['', 0];
  for await (const chunk of answer.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    // Leaving the loop cancels the body.
    if (bytes > MOST_BYTES) throw new Error(`the key set is larger than ${MOST_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function fetchKeys(url: string, clock: IssuerClock | null): Promise<JSONWebKeySet> {
  const sentMs = performance.now();
  const answer = await fetch(url, {
    headers: { Accept: 'application/jwk-set+json, application/json' },
    // Keys come from where the configuration says, and from nowhere that place may point to.
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_MS),
  });
  const { headers } = answer;
  clock?.observe({ date: headers.get('date'), isKept: headers.has('age'), sentMs, readMs: performance.now() });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`the key set was answered with ${answer.status}`);
  }
  const set = JSON.parse(await readBounded(answer)) as JSONWebKeySet;
  createLocalJWKSet(set);
  // Whoever answers an empty set has lost its keys; that is no reason for us to lose them too.
  if (set.keys.length === 0) throw new Error('the key set is empty');
  return set;
}

export interface KeySet extends JWTVerifyGetKey {
  /** Fetches in the background, again and again until there are keys, and from then on every five minutes. */
  start(): void;
  stop(): void;
}

const unavailable = (): never => {
  throw new BatonError('broker_unavailable', 'The keys that identities are checked with are not at hand');
};

/** The set in force, and what replicas know of it from each other. */
function makeHeldKeys({ store, onFailure, now }: Required<Omit<KeySetParts, 'url' | 'clock'>>) {
  let find: JWTVerifyGetKey | null = null;
  /** By `now`: when nobody has fetched the set in force for a day. */
  let overMs = Number.NEGATIVE_INFINITY;
  /** The store's clock before the set in force was fetched. */
  let atMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  const take = (set: JSONWebKeySet, ofMs: number, ageMs: number): void => {
    find = createLocalJWKSet(set);
    atMs = ofMs;
    overMs = now() + KEEP_MS - ageMs;
  };

  const readKept = async (): Promise<void> => {
    try {
      const kept = (await store?.read()) ?? null;
      if (kept !== null && kept.atMs > atMs) take(kept.set, kept.atMs, Math.max(0, Date.now() - kept.atMs));
    } catch (error) {
      onFailure('read keys', error);
    } finally {
      reading = null;
    }
  };

  return {
    /** Null also when it was fetched more than a day ago: a key that was withdrawn since must not be good for ever. */
    find: (): JWTVerifyGetKey | null => (now() < overMs ? find : null),

    /** The store's clock, to be asked before a set is fetched; null where it is away: a later fetch is then kept. */
    begin: (): Promise<number | null> => store?.nowMs().catch(() => null) ?? Promise.resolve(null),

    /** Puts a fetched set in force, and keeps it for the others. Resolves to whether that is done. */
    async fetched(set: JSONWebKeySet, beganAtMs: number | null): Promise<boolean> {
      take(set, beganAtMs ?? atMs, 0);
      if (store === null) return true;
      if (beganAtMs === null) return false;
      try {
        await store.keep({ set, atMs: beganAtMs });
        return true;
      } catch (error) {
        onFailure('keep keys', error);
        return false;
      }
    },

    /** Puts in force what another replica has fetched since. Joins the reading that is under way. */
    takeKept(): Promise<void> {
      reading ??= readKept();
      return reading;
    },
  };
}

/**
 * The public keys at a URL (RFC 7517), for `jwtVerify`. They are fetched at the start, every five minutes, and for
 * an unknown key id at most once in 30 s, always one fetch at a time, of at most 2 s and 256 KiB. A failed fetch leaves
 * the last good keys in force, for a day: ours, or those that another replica has fetched since, which are in the store.
 * A replica that reaches the URL believes what is there alone.
 * A token that names no key is checked with the only one that fits, where there is only one.
 * The function rejects with `broker_unavailable` while there are no keys.
 */
export function makeKeySet(parts: KeySetParts): KeySet {
  const { url, store = null, clock = null, onFailure, now = () => performance.now() } = parts;
  const held = makeHeldKeys({ store, onFailure, now });
  /** For a request; a failure in the background, at a start before the broker's, keeps no request from trying. */
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let fetching: Promise<boolean> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  /** Resolves to whether nothing is left to be done before the keys get old. */
  const load = async (isTold: boolean): Promise<boolean> => {
    try {
      const beganAtMs = await held.begin();
      const set = await fetchKeys(url, clock);
      fetchedAtMs = now();
      return await held.fetched(set, stopped ? null : beganAtMs);
    } catch (error) {
      if (isTold) onFailure('fetch keys', error);
      await held.takeKept();
      return false;
    } finally {
      fetching = null;
    }
  };
  /**
   * Joins the fetch that is running, or begins one when the last that a request asked for was long enough ago. Those in the
   * background do not count: a key that is new since then would be refused for as long.
   */
  const refresh = (pauseMs: number): Promise<unknown> => {
    if (fetching === null && now() - triedAtMs >= pauseMs) {
      triedAtMs = now();
      fetching = load(true);
    }
    return fetching ?? Promise.resolve();
  };

  const watch = async (pauseMs: number): Promise<void> => {
    fetching ??= load(pauseMs >= TOLD_FROM_MS);
    const isDone = await fetching;
    if (stopped) return;
    const nextMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    timer = setTimeout(() => void watch(isDone ? FIRST_KEYS_PAUSE_MS : nextMs), isDone ? FRESH_MS : pauseMs);
  };

  /** The keys in force, got where there are none. */
  const find = async (): Promise<JWTVerifyGetKey> => {
    if (held.find() === null) await refresh(FIRST_KEYS_PAUSE_MS);
    // The try that has just failed may have been before the store was there.
    if (held.find() === null) await held.takeKept();
    return held.find() ?? unavailable();
  };

  const findKey: JWTVerifyGetKey = async (header, token) => {
    const keys = await find();
    if (now() - fetchedAtMs >= FRESH_MS) void refresh(COOL_DOWN_MS);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh(COOL_DOWN_MS);
      return (await find())(header, token);
    }
  };

  return Object.assign(findKey, {
    start: () => void watch(FIRST_KEYS_PAUSE_MS),
    stop: () => {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  });
}
