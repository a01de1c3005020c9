import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { BatonError } from '../../../shared/contract/errors.ts';

/** A key set is a few kilobytes; more is not one. */
const MOST_BYTES = 262_144;
/** After this long it is fetched again, beside the requests, which go on with the keys at hand. */
const FRESH_MS = 300_000;
const FETCH_MS = 2_000;
/** An unknown key id may be a new key, or anybody's invention: it is worth one fetch in so long. */
const COOL_DOWN_MS = 30_000;
/** Without any key nobody can be let in, so that waiting is worse than asking again. */
const FIRST_KEYS_PAUSE_MS = 1_000;

interface KeySetParts {
  url: string;
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

async function fetchKeys(url: string): Promise<JWTVerifyGetKey> {
  const answer = await fetch(url, {
    headers: { Accept: 'application/jwk-set+json, application/json' },
    // Keys come from where the configuration says, and from nowhere that place may point to.
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_MS),
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`the key set was answered with ${answer.status}`);
  }
  const set = JSON.parse(await readBounded(answer)) as JSONWebKeySet;
  const find = createLocalJWKSet(set);
  // Whoever answers an empty set has lost its keys; that is no reason for us to lose them too.
  if (set.keys.length === 0) throw new Error('the key set is empty');
  return find;
}

/**
 * The public keys at a URL (RFC 7517), for `jwtVerify`. They are fetched when first needed, every five minutes, and for
 * an unknown key id at most once in 30 s, always one fetch at a time, of at most 2 s and 256 KiB. A failed fetch leaves
 * the last good keys in force.
 * A token that names no key is checked with the only one that fits, where there is only one.
 * The function rejects with `broker_unavailable` while there never were any keys.
 */
export function makeKeySet({ url, onFailure, now = () => performance.now() }: KeySetParts): JWTVerifyGetKey {
  let find: JWTVerifyGetKey | null = null;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let fetchedAtMs = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | null = null;

  const load = async (): Promise<void> => {
    triedAtMs = now();
    try {
      find = await fetchKeys(url);
      fetchedAtMs = now();
    } catch (error) {
      onFailure('fetch keys', error);
    } finally {
      fetching = null;
    }
  };
  /** Joins the fetch that is running, or begins one when the last was begun long enough ago. */
  const refresh = (pauseMs: number): Promise<void> => {
    if (fetching === null && now() - triedAtMs >= pauseMs) fetching = load();
    return fetching ?? Promise.resolve();
  };

  return async (header, token) => {
    if (find === null) await refresh(FIRST_KEYS_PAUSE_MS);
    if (find === null)
      throw new BatonError('broker_unavailable', 'The keys that identities are checked with are not at hand');
    if (now() - fetchedAtMs >= FRESH_MS) void refresh(COOL_DOWN_MS);
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh(COOL_DOWN_MS);
      return find(header, token);
    }
  };
}
