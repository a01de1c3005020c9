import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { BatonError, isErrorCode } from '../../../shared/contract/errors.ts';
import type { RateGroup } from '../../../shared/contract/limits.ts';
import { rateLimitHeaders } from '../http/rate-limit-headers.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { storeFault } from './faults.ts';

/** Strings, or lists of strings: scripts return nothing else. */
export type Reply = (string | string[])[];

/** Runs one script: keys in the order of its header, then arguments. Resolves to what follows `OK`. */
export type Script = (keys: string[], args: (string | number)[]) => Promise<Reply>;

export interface ScriptLoader {
  /** Loads the `.lua` file beside the calling module. `rate`: the group that the script counts. */
  load(file: string, importedFrom: string, rate?: RateGroup): Script;
}

/** What the store refused, raised as the error of the registry that it names. */
function refuse(word: string, reply: Reply, rate: RateGroup | undefined): never {
  if (!isErrorCode(word)) throw new BatonError('internal', undefined, { cause: new Error(`script answered ${word}`) });
  if (word !== 'rate_limited' || rate === undefined) throw new BatonError(word);
  const [limit = 0, resetMs = 0] = reply.map(Number);
  const resetSeconds = resetMs / 1000;
  const headers = rateLimitHeaders(rate, { limit, remaining: 0, resetSeconds });
  throw new BatonError(word, undefined, { headers, retryAfterSeconds: resetSeconds });
}

/**
 * Puts a script together: the chunks of `prelude/` that its `-- uses:` line names, then its own text. That line is the
 * only way in which scripts share code.
 */
function assemble(path: string, publishInScript: boolean): { source: string; keyCount: number } {
  const text = readFileSync(path, 'utf8');
  const uses = /^-- uses: (.*)$/m.exec(text)?.[1]?.split(' ') ?? [];
  const prelude = uses.map((name) => readFileSync(new URL(`./prelude/${name}.lua`, import.meta.url), 'utf8'));
  const source = [`local PUBLISH_IN_SCRIPT = ${publishInScript}`, ...prelude, text].join('\n');
  return { source, keyCount: text.match(/^-- KEYS\[\d+\]/gm)?.length ?? 0 };
}

interface ScriptLoaderParts {
  redis: Redis;
  /** Publishes what a script could not (Redis Cluster); null where scripts publish themselves. */
  announce: ((channel: string, payload: string) => void) | null;
  metrics: Metrics;
  /** False while the store is known to be away: then nothing is sent, so that nothing queues up. */
  isUp: () => boolean;
}

/** Registers scripts with the Redis client, which sends EVALSHA and recovers from NOSCRIPT by itself. */
export function makeScriptLoader({ redis, announce, metrics, isUp }: ScriptLoaderParts): ScriptLoader {
  return {
    load(file, importedFrom, rate) {
      const path = fileURLToPath(new URL(`./${file}`, importedFrom));
      const name = basename(file, '.lua');
      const { source, keyCount } = assemble(path, announce === null);
      const command = `baton_${name.replaceAll('-', '_')}`;
      redis.defineCommand(command, { lua: source, numberOfKeys: keyCount });
      const rings = source.includes('return answer(');
      const send = Reflect.get(redis, command) as (...args: (string | number)[]) => Promise<Reply>;

      return async (keys, args) => {
        if (keys.length !== keyCount) throw new Error(`${name} takes ${keyCount} keys, got ${keys.length}`);
        if (!isUp()) throw new BatonError('store_unavailable');
        const stop = metrics.redis_command_duration_seconds.startTimer({ script: name });
        const reply = await send.call(redis, ...keys, ...args).catch((error: unknown) => {
          throw storeFault(error);
        });
        stop();
        if (rings) takeAnnouncements(reply);
        const [word, ...rest] = reply;
        return word === 'OK' ? rest : refuse(String(word), rest, rate);
      };
    },
  };

  /** What a script that rings returns behind its answer: what it announced, then what it leaves to us. */
  function takeAnnouncements(reply: Reply): void {
    const unrung = reply.pop() as string[];
    const rung = reply.pop() as string[];
    for (let i = 0; i < unrung.length; i += 2) announce?.(unrung[i] as string, unrung[i + 1] as string);
    for (let i = 0; i < rung.length; i += 2) {
      // Nobody heard: that replica's subscriber is away, or it is dead. Its own sweep, or its reaper, makes up for it.
      const outcome = rung[i + 1] === '0' ? 'unheard' : 'heard';
      metrics.events_published_total.inc({ event: rung[i] as string, outcome });
    }
  }
}
