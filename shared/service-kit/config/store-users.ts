import { matching, anyText } from './kinds.ts';
import { type Env, readFileText } from './read-settings.ts';
import type { Credentials, RedisAddress } from './redis.ts';
import { setting } from './setting.ts';

/*
 * Users and passwords of a store as separate settings. A password needs no encoding there. A password from a file is read
 * again, so that it can be changed while the process runs.
 */

/** Makes the row of a user name. `url` is the key of the address that may also have one. */
export const usernameRow = (url: string, whose: string) =>
  setting(matching(/^\S{1,255}$/, '1 to 255 characters without spaces'), {
    defaultSays: `what \`${url}\` says`,
    meaning: `User ${whose}; takes precedence over one in \`${url}\`. A file is read again for each connection.`,
  });

/** Makes the row of a password. */
export const passwordRow = (url: string, whose: string) =>
  setting(anyText, {
    defaultSays: `what \`${url}\` says`,
    meaning: `Password ${whose}, without percent-encoding; takes precedence over one in \`${url}\`. A file is read again for each connection.`,
    secret: true,
  });

/** The ends of the keys, after the prefix of their store. */
const PARTS = ['USERNAME', 'PASSWORD', 'SENTINEL_USERNAME', 'SENTINEL_PASSWORD'] as const;

type UserKey<P extends string> = `${P}_${(typeof PARTS)[number]}`;

type UserValues<P extends string> = { readonly [K in UserKey<P>]: string | null };

/**
 * Returns a function that reads the present text of a setting, which may come from a file. While the file is missing or
 * empty, as during its replacement, it returns the text that it read last.
 */
function currentText(env: Env, key: string, atStart: string | null): () => string | null {
  const file = env[`${key}_FILE`]?.trim();
  if (!file) return () => atStart;
  let last = atStart;
  return () => {
    try {
      last = readFileText(file) ?? last;
    } catch {
      // If the last text is outdated, the connection that is being made is refused, and its next try reads again.
    }
    return last;
  };
}

/** The source of the values: the environment, and what was read from it at the start. */
interface UserSource<P extends string> {
  env: Env;
  values: UserValues<P>;
  /** The keys are `<prefix>_USERNAME` and so on. */
  prefix: P;
}

/** Returns the address with the users of the settings. A read of a part of `user` gets the present content of its file. */
export function withUsers<P extends string>(
  address: RedisAddress,
  { env, values, prefix }: UserSource<P>,
): RedisAddress {
  const textOf = (part: (typeof PARTS)[number]) => {
    const key: UserKey<P> = `${prefix}_${part}`;
    return currentText(env, key, values[key]);
  };
  const userOf = (username: () => string | null, password: () => string | null, inUrl: Credentials): Credentials => ({
    get username() {
      return username() ?? inUrl.username;
    },
    get password() {
      return password() ?? inUrl.password;
    },
  });
  return {
    ...address,
    user: userOf(textOf('USERNAME'), textOf('PASSWORD'), address.user),
    sentinelUser: userOf(textOf('SENTINEL_USERNAME'), textOf('SENTINEL_PASSWORD'), address.sentinelUser),
  };
}

/**
 * Reports users of a store that is not configured. `address` is null if the URL was refused, which is already reported, or
 * if it is absent, for which `absent` is the text to report.
 */
export function checkUsers<P extends string>(
  address: RedisAddress | null,
  { prefix, given, absent }: { prefix: P; given: (key: UserKey<P>) => boolean; absent: string | null },
  report: (key: UserKey<P>, message: string) => void,
): void {
  for (const part of PARTS) {
    const key: UserKey<P> = `${prefix}_${part}`;
    if (!given(key)) continue;
    if (absent !== null) report(key, absent);
    else if (address !== null && address.mode !== 'sentinel' && part.startsWith('SENTINEL')) {
      report(key, `is for sentinels, and ${prefix}_URL names none: it begins with redis+sentinel:// then`);
    }
  }
}
