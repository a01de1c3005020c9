import type { Redis } from 'ioredis';

async function timeMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

/** Runs an act, and expects that each of these keys lives for so many seconds from then on, to the millisecond. */
export async function expectLifetimes(
  redis: Redis,
  act: () => Promise<unknown>,
  seconds: Readonly<Record<string, number>>,
): Promise<void> {
  const beginMs = await timeMs(redis);
  await act();
  const endMs = await timeMs(redis);
  for (const [key, lifetime] of Object.entries(seconds)) {
    const beganMs = (await redis.pexpiretime(key)) - 1_000 * lifetime;
    expect(beganMs).toBeGreaterThanOrEqual(beginMs);
    expect(beganMs).toBeLessThanOrEqual(endMs);
  }
}
