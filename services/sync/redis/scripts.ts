import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BatonError, isErrorCode } from '../../../shared/contract/errors.ts';
import type { RateGroup } from '../../../shared/contract/rates.ts';
import { rateLimitHeaders } from '../http/rate-limit-headers.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Announcer } from './announcer.ts';
import type { Connection } from './connections.ts';
import { isAnswer, mayHaveRun, storeFault } from './faults.ts';
import type { Gate } from './gate.ts';

/** Strings, or lists of strings; a number is a string here too, and a list may hold another one. */
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
export function assemble(path: string, publishInScript: boolean): { source: string; keyCount: number } {
  const text = readFileSync(path, 'utf8');
  const uses = /^-- uses: (.*)$/m.exec(text)?.[1]?.split(' ') ?? [];
  const prelude = uses.map((name) => readFileSync(new URL(`./prelude/${name}.lua`, import.meta.url), 'utf8'));
  const source = [`local PUBLISH_IN_SCRIPT = ${publishInScript}`, ...prelude, text].join('\n');
  return { source, keyCount: text.match(/^-- KEYS\[\d+\]/gm)?.length ?? 0 };
}

interface ScriptLoaderParts {
  connection: Connection;
  gate: Gate;
  announcer: () => Announcer;
  /** False in a cluster: a script may not publish to a channel of another slot. */
  publishInScript: boolean;
  /** How often a connection to the store was lost so far; it rises while commands are under way. */
  losses: () => number;
  metrics: Metrics;
}

type Send = (...args: (string | number)[]) => Promise<Reply>;

/** Registers scripts with the Redis client, which sends EVALSHA and recovers from NOSCRIPT by itself. */
export function makeScriptLoader(parts: ScriptLoaderParts): ScriptLoader {
  const { connection, gate, announcer, publishInScript, losses, metrics } = parts;

  /** Resolves to the reply; what is to be announced, or may have been lost, goes to the announcer. */
  async function run(send: Send, key: string, words: (string | number)[], rings: boolean): Promise<Reply> {
    const leave = gate.enter(key);
    const lossesBefore = losses();
    try {
      const reply = await send.call(connection, ...words);
      leave(true);
      // The client sends again what a lost connection left unanswered. A script that had taken effect the first time
      // finds nothing to announce the second time.
      if (rings) takeAnnouncements(reply, key, losses() !== lossesBefore);
      return reply;
    } catch (error) {
      leave(isAnswer(error));
      // Whether it took effect nobody knows, and so whoever should have heard of it is rung, once it can be done. Where
      // scripts publish themselves, what took effect was announced in the same step.
      const wasCut = losses() !== lossesBefore;
      if (rings && !publishInScript && (wasCut || mayHaveRun(error))) announcer().ringAccount(key, 'unknown');
      throw storeFault(error);
    }
  }

  /** What a script that rings returns behind its answer: what it announced, then what it leaves to us. */
  function takeAnnouncements(reply: Reply, key: string, wasCut: boolean): void {
    const wasRepeated = reply.pop() === '1';
    const unrung = reply.pop() as string[];
    const rung = reply.pop() as string[];
    for (let i = 0; i < rung.length; i += 2) {
      const outcome = rung[i + 1] === '0' ? 'unheard' : 'heard';
      metrics.events_published_total.inc({ event: rung[i] as string, outcome });
    }
    for (let i = 0; i < unrung.length; i += 3) {
      const announcement = {
        channel: unrung[i] as string,
        label: unrung[i + 1] as string,
        payload: unrung[i + 2] as string,
      };
      if (publishInScript) announcer().repeat(announcement);
      else announcer().announce(announcement);
    }
    if (publishInScript) return;
    if (wasRepeated) announcer().ringAccount(key, 'repeated');
    else if (wasCut) announcer().ringAccount(key, 'cut');
  }

  return {
    load(file, importedFrom, rate) {
      const path = fileURLToPath(new URL(`./${file}`, importedFrom));
      const name = basename(file, '.lua');
      const { source, keyCount } = assemble(path, publishInScript);
      const command = `baton_${name.replaceAll('-', '_')}`;
      connection.defineCommand(command, { lua: source, numberOfKeys: keyCount });
      const rings = source.includes('return answer(');
      const send = Reflect.get(connection, command) as Send;

      return async (keys, args) => {
        const [key] = keys;
        if (key === undefined || keys.length !== keyCount) {
          throw new Error(`${name} takes ${keyCount} keys, got ${keys.length}`);
        }
        const stop = metrics.redis_command_duration_seconds.startTimer({ script: name });
        const reply = await run(send, key, [...keys, ...args], rings);
        stop();
        const [word, ...rest] = reply;
        return word === 'OK' ? rest : refuse(String(word), rest, rate);
      };
    },
  };
}
