import type { RedisAddress } from './redis.ts';

/*
 * What the configurations of replica and broker refuse alike, so that a mistake cannot switch a protection off.
 */

const LOOPBACK_NAME = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|[\w.-]+\.localhost)$/;

/** Whether only this machine reaches a process that listens there. */
export const listensOnLoopback = (host: string): boolean => /^(127\.|::1$|localhost$)/.test(host);

/** Browsers take http to these for as good as https, and no other site can point one of them elsewhere. */
export const isLoopbackName = (hostname: string): boolean => LOOPBACK_NAME.test(hostname);

/** A cookie or a login that crosses the network in the clear is anybody's. */
export const isOpenHttp = (url: string | null): url is string =>
  url?.startsWith('http:') === true && !isLoopbackName(new URL(url).hostname);

/** The host names, beside those of loopback, under which a process with these public URLs may be asked. */
export const hostsOf = (...publicUrls: readonly string[]): string[] => [
  ...new Set(publicUrls.map((url) => new URL(url).hostname)),
];

/** Values that stand in the samples and documents of this repository: everybody knows them. */
const PUBLISHED: ReadonlySet<string> = new Set(['put-a-secret-of-your-own-here-00', 'password']);

/** The passwords in the address of a store. */
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
