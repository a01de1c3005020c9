import type { RedisAddress } from './redis.ts';

/*
 * Rules of the configurations of both replica and broker, so that a mistake cannot switch a protection off.
 */

const LOOPBACK_NAME = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|[\w.-]+\.localhost)$/;

/** Returns whether only this machine reaches a process that listens on this host. */
export const listensOnLoopback = (host: string): boolean => /^(127\.|::1$|localhost$)/.test(host);

/** Returns whether browsers treat http to this name like https. No other site can point such a name elsewhere. */
export const isLoopbackName = (hostname: string): boolean => LOOPBACK_NAME.test(hostname);

/** Returns whether the URL sends cookies and logins in the clear, where anybody on the network can read them. */
export const isOpenHttp = (url: string | null): url is string =>
  url?.startsWith('http:') === true && !isLoopbackName(new URL(url).hostname);

/** Returns the host names, besides those of loopback, that requests to a process with these public URLs may use. */
export const hostsOf = (...publicUrls: readonly string[]): string[] => [
  ...new Set(publicUrls.map((url) => new URL(url).hostname)),
];

/** Values from the samples and documents of this repository, which everybody knows. */
const PUBLISHED: ReadonlySet<string> = new Set(['put-a-secret-of-your-own-here-00', 'password']);

/** Returns the passwords in the address of a store. */
export const passwordsOf = (address: RedisAddress | null): (string | null)[] =>
  address === null ? [] : [address.user.password, address.sentinelUser.password];

/** Reports each key that holds a published value. */
export function refusePublished<K extends string>(
  secrets: readonly (readonly [K, readonly (string | null)[]])[],
  report: (key: K, message: string) => void,
): void {
  for (const [key, values] of secrets) {
    const isKnown = values.some((value) => value !== null && PUBLISHED.has(value));
    if (isKnown) report(key, 'must not be a value of the samples in production: everybody knows it');
  }
}
