import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { IssuerClock } from './issuer-clock.ts';
import type { KeySetStore } from './key-set-store.ts';
import { KEEP_MS } from '../scripts.ts';

/** The longest key set that is read. A real one has a few kilobytes. */
const MOST_BYTES = 262_144;
/** The age at which a set is fetched again in the background, while requests go on with the present keys. */
const FRESH_MS = 300_000;
const FETCH_MS = 2_000;
/** The pause between two fetches for unknown key ids. Such an id may belong to a new key, or somebody invented it. */
const COOL_DOWN_MS = 30_000;
/** The pause while there are no keys: nobody can be let in without one, so waiting is worse than asking again. */
const FIRST_KEYS_PAUSE_MS = 1_000;
/** The pause from which failures in the background are reported: a broker that starts beside us takes some seconds. */
const TOLD_FROM_MS = 8_000;
/** The longest pause between two tries in the background. */
const LONGEST_PAUSE_MS = 30_000;

interface KeySetParts {
  url: string;
  /** The store in which replicas keep the last good set for each other; null for none. */
  store?: KeySetStore | null;
  /** Observes the time of the responses. */
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
    // Keys come only from the configured URL, and from no place that it may redirect to.
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
  // A server with an empty set has lost its keys. That is no reason to drop ours.
  if (set.keys.length === 0) throw new Error('the key set is empty');
  return set;
}

export interface KeySet extends JWTVerifyGetKey {
  /** Starts fetching in the background: again and again until there are keys, and from then on every five minutes. */
  start(): void;
  stop(): void;
}

const unavailable = (): never => {
  throw new BatonError('broker_unavailable', 'The keys that identities are checked with are not at hand');
};

/** Makes the holder of the set in force, which exchanges the set with other replicas through the store. */
function makeHeldKeys({ store, onFailure, now }: Required<Omit<KeySetParts, 'url' | 'clock'>>) {
  let find: JWTVerifyGetKey | null = null;
  /** When the set in force expires, by `now`: a day after a replica fetched it last. */
  let overMs = Number.NEGATIVE_INFINITY;
  /** The store's time before the set in force was fetched. */
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
    /** Returns the set in force; null from a day after its fetch, because a withdrawn key must not stay good for ever. */
    find: (): JWTVerifyGetKey | null => (now() < overMs ? find : null),

    /** Resolves to the store's time, to be read before a fetch. If it is null (unreachable), a later fetch is kept. */
    begin: (): Promise<number | null> => store?.nowMs().catch(() => null) ?? Promise.resolve(null),

    /** Puts a fetched set in force, and keeps it for the other replicas. Resolves to whether both are done. */
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

    /** Puts in force what another replica fetched since. Joins a read that is under way. */
    takeKept(): Promise<void> {
      reading ??= readKept();
      return reading;
    },
  };
}

/**
 * Makes the public keys at a URL (RFC 7517), for `jwtVerify`. They are fetched at the start, every five minutes, and for
 * an unknown key id at most once in 30 s, always one fetch at a time, of at most 2 s and 256 KiB. A failed fetch leaves
 * the last good keys in force for a day: ours, or newer ones that another replica fetched, from the store.
 * A replica that reaches the URL trusts only the set there.
 * A token that names no key is checked with the key that fits, if exactly one does.
 * The function rejects with `broker_unavailable` while there are no keys.
 */
export function makeKeySet(parts: KeySetParts): KeySet {
  const { url, store = null, clock = null, onFailure, now = () => performance.now() } = parts;
  const held = makeHeldKeys({ store, onFailure, now });
  /**
   * The last try for a request. A failure in the background does not count, because this replica may have started before
   * the broker.
   */
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let fetching: Promise<boolean> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  /** Fetches the keys. Resolves to whether nothing is left to do until they get old. */
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
   * Joins the fetch that is under way, or begins one if the last one for a request is long enough ago. Fetches in the
   * background do not count, because a key that is newer than those would be refused until the pause ends.
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

  /** Resolves to the keys in force, and fetches them if there are none. */
  const find = async (): Promise<JWTVerifyGetKey> => {
    if (held.find() === null) await refresh(FIRST_KEYS_PAUSE_MS);
    // The store may have become reachable only after the try that just failed.
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
