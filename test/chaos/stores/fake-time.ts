import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * While jemalloc starts it asks for the time, and libfaketime asks for memory. With the C library's malloc neither
 * waits for the other.
 */
const OWN_MALLOC = 'libc.so.6';

/** The library that shows a process another clock; null where it is not installed. */
export function findFakeTime(): string | null {
  const candidates = ['/usr/lib', '/usr/lib64', '/usr/local/lib']
    .filter(existsSync)
    .flatMap((folder) => [
      join(folder, 'faketime/libfaketimeMT.so.1'),
      ...readdirSync(folder).map((part) => join(folder, part, 'faketime/libfaketimeMT.so.1')),
    ]);
  return candidates.find(existsSync) ?? null;
}

/** Returns the environment of a process whose wall clock is off by so many seconds. */
export function fakeTimeEnv(library: string | null, offsetSeconds: number): Record<string, string> {
  if (library === null || offsetSeconds === 0) return {};
  const FAKETIME = `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}s`;
  return { LD_PRELOAD: `${library}:${OWN_MALLOC}`, FAKETIME, DONT_FAKE_MONOTONIC: '1' };
}
