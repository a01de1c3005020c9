import { createHash } from 'node:crypto';
import type { SharedTexts } from '../sender.ts';

/** A new token, and for how long the replicas may use it. */
export interface Minted {
  readonly text: string;
  readonly seconds: number;
}

/** A token as the replicas share it, with times in milliseconds since 1970. */
export interface ProviderToken {
  readonly text: string;
  readonly mintedMs: number;
  readonly untilMs: number;
}

interface ProviderTokenParts {
  /** The name under which the replicas share the token. */
  name: string;
  texts: SharedTexts;
  mint: () => Promise<Minted>;
  /** The age below which a refused token is not replaced. */
  leastAgeMs: number;
  now: () => number;
}

/** How long the provider is not asked after a failure, because pushes may come by the thousand. */
const PAUSE_MS = 5_000;
/** The shortest time between two replacements, for a provider that refuses every token. */
const REPLACE_EVERY_MS = 60_000;

const parsed = (text: string | null): ProviderToken | null =>
  text === null ? null : (JSON.parse(text) as ProviderToken);

/**
 * Makes the token that the replicas send to a provider. One replica makes it, and all use it until it expires. When the
 * provider refuses a token, the next one is kept under a name that is derived from the refused one. So every replica that
 * is refused finds the same successor, and a replica that starts later follows the same names.
 */
export function makeProviderToken({ name, texts, mint, leastAgeMs, now }: ProviderTokenParts) {
  let known: ProviderToken | null = null;
  let replacedAtMs = Number.NEGATIVE_INFINITY;
  /** Tokens that are being made, by the name under which they are shared. */
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

  /** Fetches the token of a name, once for all callers that ask at the same time. */
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
    /** Resolves to the present token. Rejects with the error of the minting or of the shared texts. */
    get: async (): Promise<ProviderToken> => (isFresh(known) ? known : fetch(name)),

    /** Resolves to the replacement of a token that the provider refused, or to null when it is too early for a new one. */
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
