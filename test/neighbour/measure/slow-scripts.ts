import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { configTable } from '../../../services/sync/config/settings.ts';
import { bindScript } from '../../../shared/service-kit/redis/scripts/bound-script.ts';
import { declaredScripts } from '../../support/declared-scripts.ts';

/** A command that holds up all others for longer than this is written down. */
const SLOW_MICROS = 2_000;
const KEPT = 4_000;

/** Returns the names of scripts by their digest in the store, with the configuration of the replicas here. */
async function scriptNames(scale: number): Promise<Map<string, string>> {
  const byDefault = new Map(configTable().map(({ key, default: value }) => [key, Number(value)]));
  const seconds = (key: string) => (byDefault.get(key) ?? 0) * 1_000;
  const redelivery = seconds('APP_TRANSFER_REDELIVERY_SECONDS');
  const values: Readonly<Record<string, string | number>> = {
    GRACE_MS: byDefault.get('APP_HUB_OFFLINE_GRACE_MS') ?? 0,
    TTL_MS: seconds('APP_CLIPBOARD_TTL_SECONDS'),
    ...{ REDELIVERY_MS: redelivery, IDLE_MS: String(redelivery) },
  };
  const names = new Map<string, string>();
  for (const [file, declared] of await declaredScripts()) {
    // No broker runs here.
    if (file.startsWith('broker/')) continue;
    const settings = Object.fromEntries(declared.settings.map((name) => [name, values[name]]));
    for (const publishes of [true, false]) {
      const { name, text } = bindScript(declared, publishes, [settings as Record<string, string | number>], scale);
      names.set(createHash('sha1').update(text).digest('hex'), name);
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

/** Looks into the slow logs of the store's servers. Each look returns what came since the last one. */
export async function watchSlowCommands(
  primaries: readonly Redis[],
  scale: number,
): Promise<() => Promise<SlowCommand[]>> {
  const names = await scriptNames(scale);
  for (const redis of primaries) {
    await redis.config('SET', 'slowlog-log-slower-than', SLOW_MICROS);
    await redis.config('SET', 'slowlog-max-len', KEPT);
    await redis.slowlog('RESET');
  }
  const nameOf = (words: string[]): string => {
    const [command = '', first = ''] = words;
    if (/^evalsha$/i.test(command)) return names.get(first) ?? 'another script';
    // A script is sent in full once, when the store does not know it yet.
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

/**
 * Looks at how much of the store's time commands took; a script counts with what it calls. Each look returns what came
 * since the last one.
 */
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
