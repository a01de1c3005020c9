import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { assemble } from '../../../services/sync/redis/scripts.ts';

const SERVICE = fileURLToPath(new URL('../../../services/sync/', import.meta.url));
/** What holds up everybody else for longer than this is written down. */
const SLOW_MICROS = 2_000;
const KEPT = 4_000;

/** Scripts by the name under which the store knows them. */
function scriptNames(): Map<string, string> {
  const names = new Map<string, string>();
  for (const path of readdirSync(SERVICE, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.lua') || path.includes('prelude')) continue;
    for (const publishes of [true, false]) {
      const { source } = assemble(SERVICE + path, publishes);
      const name = path.split('/').at(-1) as string;
      names.set(createHash('sha1').update(source).digest('hex'), name.replace('.lua', ''));
    }
  }
  return names;
}

/** A kind of command that held up the store. */
export interface SlowCommand {
  name: string;
  times: number;
  worstMs: number;
  sumMs: number;
}

type Entry = [id: number, at: number, micros: number, words: string[]];

/** Looks into the slow logs of the store's servers; each look gives what came since the last one. */
export async function watchSlowCommands(primaries: readonly Redis[]): Promise<() => Promise<SlowCommand[]>> {
  const names = scriptNames();
  for (const redis of primaries) {
    await redis.config('SET', 'slowlog-log-slower-than', SLOW_MICROS);
    await redis.config('SET', 'slowlog-max-len', KEPT);
    await redis.slowlog('RESET');
  }
  const nameOf = (words: string[]): string => {
    const [command = '', first = ''] = words;
    if (/^evalsha$/i.test(command)) return names.get(first) ?? 'another script';
    // Sent in full once, when the store does not know it yet.
    if (/^eval$/i.test(command)) return 'a script sent in full';
    return command.toUpperCase();
  };
  return async () => {
    const found = new Map<string, SlowCommand>();
    for (const redis of primaries) {
      const entries = (await redis.slowlog('GET', KEPT)) as Entry[];
      await redis.slowlog('RESET');
      for (const [, , micros, words] of entries) {
        const name = nameOf(words);
        const one = found.get(name) ?? { name, times: 0, worstMs: 0, sumMs: 0 };
        const ms = micros / 1_000;
        found.set(name, {
          ...{ name, times: one.times + 1, sumMs: one.sumMs + ms, worstMs: Math.max(one.worstMs, ms) },
        });
      }
    }
    return [...found.values()].toSorted((a, b) => b.sumMs - a.sumMs);
  };
}

const STAT = /^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm;

/** What commands took of the store's time, scripts with what they call; each look gives what came since the last one. */
export function watchCommands(
  primaries: readonly Redis[],
): () => Promise<Record<string, { calls: number; ms: number }>> {
  return async () => {
    const found: Record<string, { calls: number; ms: number }> = {};
    for (const redis of primaries) {
      const text = await redis.info('commandstats');
      await redis.config('RESETSTAT');
      for (const [, name = '', calls, micros] of text.matchAll(STAT)) {
        const before = found[name] ?? { calls: 0, ms: 0 };
        found[name] = { calls: before.calls + Number(calls), ms: before.ms + Number(micros) / 1_000 };
      }
    }
    return found;
  };
}
