import { createHash } from 'node:crypto';
import type { SharedTexts } from '../sender.ts';

/** A token that was just made, and for how long the replicas may use it. */
export interface Minted {
  readonly text: string;
  readonly seconds: number;
}

/** A token as the replicas share it. Times in milliseconds since 1970. */
export interface ProviderToken {
  readonly text: string;
  readonly mintedMs: number;
  readonly untilMs: number;
}

interface ProviderTokenParts {
  /** What is named here shares a token. */
  name: string;
  texts: SharedTexts;
  mint: () => Promise<Minted>;
  /** A refused token that is younger is not replaced. */
  leastAgeMs: number;
  now: () => number;
}

/** After a failure the provider is not asked for so long: pushes may come by the thousand. */
const PAUSE_MS = 5_000;
/** A provider that refuses every token gets at most one in so long. */
const REPLACE_EVERY_MS = 60_000;

const parsed = (text: string | null): ProviderToken | null =>
  text === null ? null : (JSON.parse(text) as ProviderToken);

/**
 * The token that the replicas send to a provider. One of them makes it, and all use it until its time is over. When the
 * provider refused one, the next is kept under a name that follows from the refused one. So every replica that is refused
 * finds the same successor, and one that starts later follows the same names.
 */
export function makeProviderToken({ name, texts, mint, leastAgeMs, now }: ProviderTokenParts) {
  let known: ProviderToken | null = null;
  let replacedAtMs = Number.NEGATIVE_INFINITY;
  /** By the name under which they are shared. */
  const underWay = new Map<string, Promise<ProviderToken>>();
  let failure: { error: unknown; untilMs: number } | null = null;

  const isFresh = (token: ProviderToken | null): token is ProviderToken => token !== null && now() < token.untilMs;

  async function obtain(key: string): Promise<ProviderToken> {
    const shared = parsed(await texts.get(key));
    if (isFresh(shared)) return shared;
    const { text, seconds } = await mint();
    const made: ProviderToken = { text, mintedMs: now(), untilMs: now() + seconds * 1_000 };
    const stands = parsed(await texts.put(key, JSON.stringify(made), seconds));
    return isFresh(stands) ? stands : made;
  }

  /** One at a time for all callers. */
  function fetch(key: string): Promise<ProviderToken> {
    if (failure !== null && now() < failure.untilMs) return Promise.reject(failure.error);
    const joined = underWay.get(key);
    if (joined !== undefined) return joined;
    const begun = obtain(key)
      .then(
        (token) => {
          [known, failure] = [token, null];
          return token;
        },
        (error: unknown) => {
          failure = { error, untilMs: now() + PAUSE_MS };
          throw error;
        },
      )
      .finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  }

  return {
    /** Rejects with what the minting or the shared texts failed with. */
    get: async (): Promise<ProviderToken> => (isFresh(known) ? known : fetch(name)),

    /** The one to use instead of a token that the provider refused; null when it is too early for a new one. */
    async after(refused: ProviderToken): Promise<ProviderToken | null> {
      if (isFresh(known) && known.text !== refused.text) return known;
      const isEarly = Math.abs(now() - refused.mintedMs) < leastAgeMs || now() - replacedAtMs < REPLACE_EVERY_MS;
      const digest = createHash('sha256').update(refused.text).digest('base64url');
      const key = `${name}:after:${digest}`;
      if (isEarly) return underWay.get(key) ?? null;
      replacedAtMs = now();
      return fetch(key);
    },
  };
}
